// Draws the layouts of the report page, each of them once it is visible.

import { render } from "preact";
import { useCallback, useState } from "preact/hooks";
import type { Scheme } from "./map/colours";
import { NO_FOCUS, type Focus } from "./map/plot";
import { viewOf, type Stored } from "./model/stored";
import type { View } from "./model/view";
import { Maps } from "./page/Maps";
import { Table } from "./page/Table";
import { Tools, matches } from "./page/Tools";
import { peakStep } from "./page/state";
import "./map/map.css";
import "./report.css";

function Layout({ view, id }: { view: View; id: string }) {
  const [focus, setFocus] = useState<Focus>({ ...NO_FOCUS, step: peakStep(view) });
  const [scheme, setScheme] = useState<Scheme>("kind");
  const [search, setSearch] = useState("");
  const change = useCallback((part: Partial<Focus>) => setFocus((focus) => ({ ...focus, ...part })), []);
  const find = (words: string) => {
    setSearch(words);
    change({ found: matches(view, words) });
  };
  return (
    <>
      <Tools {...{ view, search, find, scheme }} colour={setScheme} />
      <Maps {...{ view, scheme, focus, change }} isLazy />
      <p class="soft">Drag to move the map. Click it, then scroll to zoom. Click the strip of live bytes to list the buffers at a step.</p>
      <Table {...{ view, focus, change }} id={id} />
    </>
  );
}

function show(place: Element, nth: number): void {
  const data = place.querySelector("script")?.textContent ?? "";
  render(<Layout view={viewOf(JSON.parse(data) as Stored)} id={`layout-${nth}`} />, place);
}

const places = [...document.querySelectorAll(".layout")];
const observer = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    observer.unobserve(target);
    show(target, places.indexOf(target));
  }
}, { rootMargin: "200px" });
for (const place of places) observer.observe(place);
