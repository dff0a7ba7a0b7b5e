// Opens files that are chosen, dropped or pasted, and examples.

import { useRef, useState } from "preact/hooks";
import { EXAMPLES, type Example } from "../model/source";

interface Props {
  open: (name: string, data: Uint8Array) => void;
  read: (file: File | undefined) => void;
  take: (example: Example) => void;
}

export function Open({ open, read, take }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const [pasted, paste] = useState("");
  return (
    <section aria-labelledby="open-title" class="open">
      <h2 id="open-title">Open</h2>
      <p>
        Drop a file anywhere on this page, or paste it: ONNX, TFLite, a graph, a CSV of buffers, a layout, or a
        document of dsa-solver. Nothing is uploaded.
      </p>
      <input ref={input} type="file" id="file" class="hidden" aria-label="File to open" accept=".onnx,.tflite,.json,.csv"
        onChange={(event) => {
          read(event.currentTarget.files?.[0]);
          event.currentTarget.value = "";
        }} />
      <button type="button" class="main" onClick={() => input.current?.click()}>Choose a file…</button>
      <details>
        <summary>Paste text</summary>
        <label for="paste">CSV or JSON</label>
        <textarea id="paste" rows={5} value={pasted} onInput={(event) => paste(event.currentTarget.value)}
          placeholder={"id,lower,upper,size\na,0,2,4"} />
        <button type="button" disabled={pasted.trim() === ""} onClick={() => open("pasted", new TextEncoder().encode(pasted))}>
          Open the text
        </button>
      </details>
      <h3>Examples</h3>
      <ul class="shelf">
        {EXAMPLES.map((example) => (
          <li key={example.name}>
            <button type="button" onClick={() => take(example)}>
              <strong>{example.name}</strong>
              <span>{example.about}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
