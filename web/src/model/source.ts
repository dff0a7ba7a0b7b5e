// The file that a user opened, and how its kind is recognised.

import type { Files } from "../engine/run";

/** `pools` is a document of dsa-solver with one or more memories. `layout` is a CSV file with offsets. */
export type Kind = "instance" | "layout" | "model" | "pools";

export interface Source {
  /** The name of the file, which decides how the engine reads it. */
  name: string;
  data: Uint8Array;
  kind: Kind;
}

/** Larger files are rejected, because the engine has at most 4 GiB of memory in a browser. */
const MOST_BYTES = 1 << 30;

const decoder = new TextDecoder();

export const text = (data: Uint8Array): string => decoder.decode(data);
export const binary = (words: string): Uint8Array => new TextEncoder().encode(words);

/** Throws an error for the user if a file is too large to be read. */
export function admit(name: string, bytes: number): void {
  if (bytes > MOST_BYTES) throw new Error(`${name} has ${bytes} bytes; at most ${MOST_BYTES} can be opened`);
}

/** Recognises a file by its name and content. Throws an error for the user if the format is unknown. */
export function source(name: string, data: Uint8Array): Source {
  if (data.length === 0) throw new Error(`${name} is empty`);
  admit(name, data.length);
  // The engine reads the file under this name. Only the suffix and the capacity before it matter.
  const safe = name.split(/[\\/]/).pop()!.replace(/^-+/, "") || "pasted";
  const suffix = safe.toLowerCase().match(/\.(onnx|tflite|csv|json)$/)?.[1];
  const start = text(data.subarray(0, 4096)).trimStart();
  if (suffix === "onnx" || suffix === "tflite") return { name: safe, data, kind: "model" };
  if (text(data.subarray(4, 8)) === "TFL3") return { name: `${safe}.tflite`, data, kind: "model" };
  if (start.startsWith("{")) {
    const named = suffix === "json" ? safe : `${safe}.json`;
    return { name: named, data, kind: start.includes('"plimsoll-graph"') ? "model" : "pools" };
  }
  const head = start.split("\n", 1)[0].toLowerCase().split(",").map((field) => field.trim().replaceAll('"', ""));
  const has = (...names: string[]) => names.some((one) => head.includes(one));
  if (has("id", "buffer", "buffer_id") && has("lower", "begin", "start") && has("size")) {
    const named = suffix === "csv" ? safe : `${safe}.csv`;
    return { name: named, data, kind: has("offset") ? "layout" : "instance" };
  }
  if (suffix === "csv") return { name: safe, data, kind: "instance" };
  // Protocol buffers have no magic number. The reader rejects everything that is not a model.
  if (start.includes("\u0000") || start.includes("\uFFFD")) return { name: `${safe}.onnx`, data, kind: "model" };
  throw new Error(`${name} is neither a model (ONNX, TFLite), a graph, an instance, a layout nor a document of dsa-solver`);
}

/** An example: arguments of `generate`, or a text. */
export interface Example {
  name: string;
  about: string;
  file: string;
  generate?: string[];
  text?: string;
}

const FIVE = `id,lower,upper,size
input,0,2,4
conv,1,4,6
pool,3,6,2
dense,5,8,8
output,7,9,3
`;

const GREEDY = `id,lower,upper,size,offset
a,0,3,30,0
b,2,5,20,30
c,4,7,30,50
d,6,9,20,80
e,1,9,10,100
`;

export const EXAMPLES: Example[] = [
  { name: "Five buffers", about: "the smallest example", file: "five.12.csv", text: FIVE },
  { name: "A wasteful layout", about: "a layout next to the optimum", file: "wasteful.csv", text: GREEDY },
  { name: "Above the load", about: "the optimum exceeds the live bytes", file: "above-load.csv", generate: ["above-load"] },
  { name: "A compiler's arena", about: "like MiniMalloc's instances", file: "minimalloc-like.csv", generate: ["minimalloc-like"] },
  { name: "SqueezeNet", about: "a network", file: "squeezenet.json", generate: ["squeezenet"] },
  { name: "Random wiring", about: "the order of the operators matters", file: "randwire.json", generate: ["randwire-ws"] },
  { name: "Nested branches", about: "tensors that never coexist", file: "nested-if.json", generate: ["nested-if"] },
  { name: "Loops", about: "state carried between iterations", file: "loops.json", generate: ["loops"] },
];

/** Returns the arguments that generate an example, which writes `example.file`. */
export const generating = (example: Example): string[] => [
  "generate", ...example.generate!, "--seed", "1", "--out", example.file,
];

/** Returns the files of a source for the engine. */
export const filesOf = (source: Source): Files => ({ [source.name]: source.data });
