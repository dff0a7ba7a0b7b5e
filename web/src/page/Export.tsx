// Exports: the files of the command, pictures of the map, and a link.

import { useState } from "preact/hooks";
import type { Solved } from "../model/ask";
import type { Files } from "../engine/run";

/** Offers bytes as a file. */
export function download(name: string, data: Uint8Array | Blob): void {
  const url = URL.createObjectURL(data instanceof Blob ? data : new Blob([data as BlobPart]));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

interface Props {
  solved: Solved;
  /** Asks the engine for a picture of the layout. */
  picture: (() => Promise<Files>) | null;
  /** Returns a link that contains the instance. */
  link: (() => Promise<string | null>) | null;
}

export function Export({ solved, picture, link }: Props) {
  const [note, tell] = useState("");
  const { title } = solved.view;
  const { files, report } = solved;
  const png = () => {
    const canvas = document.querySelector<HTMLCanvasElement>(".map canvas");
    canvas?.toBlob((blob) => blob && download(`${title}.png`, blob), "image/png");
  };
  const svg = async () => {
    for (const [name, data] of Object.entries(await picture!())) if (name.endsWith(".svg")) download(`${title}.svg`, data);
  };
  const share = async () => {
    const url = await link!();
    if (!url) return tell("The instance is too large for a link.");
    history.replaceState(null, "", url);
    const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
    tell(copied ? "The link was copied to the clipboard." : "The link is in the address bar.");
  };
  return (
    <section aria-labelledby="export-title" class="export">
      <h2 id="export-title">Export</h2>
      <div class="buttons">
        {files["layout.csv"] && <button type="button" onClick={() => download(`${title}-layout.csv`, files["layout.csv"])}>Layout (CSV)</button>}
        {files["tensors.json"] && <button type="button" onClick={() => download(`${title}-plan.json`, files["tensors.json"])}>Plan (JSON)</button>}
        {files["certificate.json"] && <button type="button" onClick={() => download(`${title}-certificate.json`, files["certificate.json"])}>Certificate (JSON)</button>}
        <button type="button" onClick={() => download(`${title}-report.json`, new TextEncoder().encode(JSON.stringify(report)))}>Report (JSON)</button>
        {picture && files["layout.csv"] && <button type="button" onClick={() => void svg()}>Picture (SVG)</button>}
        {files["layout.csv"] && <button type="button" onClick={png}>Picture (PNG)</button>}
        {link && <button type="button" onClick={() => void share()}>Link</button>}
      </div>
      <p role="status">{note}</p>
    </section>
  );
}
