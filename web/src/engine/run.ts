// Runs the command `plimsoll`, compiled for WASI, on files in memory.

import { ConsoleStdout, Directory, File, OpenFile, PreopenDirectory, WASI } from "@bjorn3/browser_wasi_shim";

export type Files = Record<string, Uint8Array>;

/** The output of one run of the command. */
export interface Answer {
  /** The exit code of the command. */
  code: number;
  out: string;
  err: string;
  /** The files that the command wrote. */
  files: Files;
}

/** Progress of a running algorithm. `best` and `bound` contain their units. */
export interface Progress {
  algorithm: string;
  best: string | null;
  bound: string | null;
  gap_percent: number | null;
  phase: string;
}

const PROGRESS = '{"algorithm":';

/** Collects the output of a stream. */
function sink(): { stream: ConsoleStdout; text: () => string } {
  const parts: Uint8Array[] = [];
  const text = () => {
    const decoder = new TextDecoder();
    return parts.map((part) => decoder.decode(part, { stream: true })).join("") + decoder.decode();
  };
  return { stream: new ConsoleStdout((part) => parts.push(part)), text };
}

function collect(folder: Directory, prefix: string, files: Files): void {
  for (const [name, entry] of folder.contents) {
    if (entry instanceof File) files[prefix + name] = entry.data;
    else if (entry instanceof Directory) collect(entry, `${prefix}${name}/`, files);
  }
}

/** Runs `plimsoll` with these arguments. Relative paths refer to the given files. */
export function run(
  module: WebAssembly.Module,
  args: string[],
  input: Files,
  listen?: (progress: Progress) => void,
): Answer {
  const folder = new Map(Object.entries(input).map(([name, data]) => [name, new File(data, { readonly: true })]));
  const root = new PreopenDirectory(".", folder);
  const temporary = new PreopenDirectory("/tmp", new Map());
  const out = sink();
  const complaints: string[] = [];
  const err = ConsoleStdout.lineBuffered((line) => {
    if (!line.startsWith(PROGRESS)) complaints.push(line);
    else listen?.(JSON.parse(line) as Progress);
  });
  const wasi = new WASI(["plimsoll", ...args], [], [new OpenFile(new File([])), out.stream, err, root, temporary], { debug: false });
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: wasi.wasiImport });
  const code = wasi.start(instance as never);
  const files: Files = {};
  collect(root.dir, "", files);
  for (const name of Object.keys(input)) delete files[name];
  return { code, out: out.text(), err: complaints.join("\n"), files };
}
