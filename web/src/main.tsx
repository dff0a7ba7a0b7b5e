import { render } from "preact";
import { App, type Given } from "./page/App";
import "./map/map.css";
import "./style.css";

const content = (id: string) => document.getElementById(id)?.textContent?.trim() ?? "";
const given = content("data");
render(<App packed={content("engine")} given={given === "" ? null : (JSON.parse(given) as Given)} />, document.getElementById("app")!);
