// Tests that the engine writes the same bytes as the native command.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { run, type Answer, type Files } from "../src/engine/run.ts";
import { draws, mutated } from "./mutate.ts";
import { generated, native } from "./native.ts";

const { PLIMSOLL_ENGINE, PLIMSOLL_CORPORA } = process.env;
assert(PLIMSOLL_ENGINE, "set PLIMSOLL_ENGINE, or use `make test-web`");
const module = new WebAssembly.Module(readFileSync(PLIMSOLL_ENGINE));

/** Removes measured times, which differ from run to run. */
const timeless = (text: string) => text.replace(/"seconds":[-+.e0-9]+/g, '"seconds":0').trim();

function compare(args: string[], files: Files): Answer {
  const [expected, found] = [native(args, files), run(module, args, files)];
  assert.equal(found.err.trim(), expected.err.trim());
  assert.equal(found.code, expected.code);
  assert.equal(timeless(found.out), timeless(expected.out));
  assert.deepEqual(Object.keys(found.files).sort(), Object.keys(expected.files).sort());
  for (const name of Object.keys(expected.files)) {
    const text = (answer: Answer) => Buffer.from(answer.files[name]).toString();
    assert.equal(timeless(text(found)), timeless(text(expected)), name);
  }
  return found;
}

const SOLVE = ["--json", "--with-layout", "--certificate", "certificate.json", "--output", "layout.csv"];
const PLAN = ["--json", "--tensors", "tensors.json", "--output", "layout.csv"];

for (const family of ["above-load", "minimalloc-like", "training", "packing"]) {
  test(`instance of ${family}`, () => {
    const args = ["solve", "a.csv", ...SOLVE, "--node-limit", "2000"];
    compare(args, { "a.csv": generated(family, "csv") });
  });
}

for (const graph of ["nested-if", "squeezenet", "loops", "randwire-ws"]) {
  test(`graph ${graph}`, () => {
    const args = ["plan", "a.json", ...PLAN, "--node-limit", "2000"];
    compare(args, { "a.json": generated(graph, "json") });
  });
}

test("a broken file is reported as on the command line", () => {
  assert.equal(compare(["solve", "a.csv"], { "a.csv": Buffer.from("id,lower\n1,2\n") }).code, 2);
});

test("progress is reported", () => {
  const seen: string[] = [];
  run(module, ["solve", "a.csv", "--json"], { "a.csv": generated("above-load", "csv") }, (now) => seen.push(now.algorithm));
  assert(seen.length > 0);
});

test("every mutated file ends with a documented exit code", { timeout: 300_000 }, () => {
  const originals: [string, string, Buffer][] = [
    ["solve", "a.csv", generated("above-load", "csv")],
    ["plan", "a.json", generated("nested-if", "json")],
    ...corpus("tflite").slice(0, 2).map((path): [string, string, Buffer] => ["plan", "a.tflite", readFileSync(path)]),
    ...corpus("onnx").slice(-1).map((path): [string, string, Buffer] => ["plan", "a.onnx", readFileSync(path)]),
  ];
  const next = draws(7);
  const codes = new Map<number, number>();
  for (let at = 0; at < 2000; at++) {
    const [command, name, original] = originals[at % originals.length];
    const data = mutated(original, /csv|json/.test(name), next);
    const { code, err } = run(module, [command, name, "--json", "--node-limit", "200", "--time-limit", "1"], { [name]: data });
    assert([0, 1, 2, 3].includes(code), `${code}: ${err}`);
    if (code === 2) assert.match(err, /^plimsoll: /);
    codes.set(code, (codes.get(code) ?? 0) + 1);
  }
  console.log("mutated files by exit code:", Object.fromEntries(codes));
});

function corpus(folder: string): string[] {
  if (!PLIMSOLL_CORPORA) return [];
  return readdirSync(join(PLIMSOLL_CORPORA, folder)).map((name) => join(PLIMSOLL_CORPORA!, folder, name));
}

for (const path of corpus("minimalloc").filter((path) => path.endsWith(".csv"))) {
  test(`MiniMalloc's ${basename(path)}`, () => {
    const name = basename(path);
    const args = ["solve", name, "--no-capacity", ...SOLVE, "--node-limit", "20000"];
    compare(args, { [name]: readFileSync(path) });
  });
}

const DIMENSIONS: Record<string, string[]> = {
  "silero_vad.onnx": ["--input-shape", "input=1x576", "--input-shape", "state=2x1x128"],
  "silero_vad_16k_op15.onnx": ["--input-shape", "input=1x576", "--input-shape", "state=2x1x128"],
};

for (const path of [...corpus("onnx"), ...corpus("tflite")]) {
  test(`model ${basename(path)}`, () => {
    const name = basename(path);
    const args = ["plan", name, ...PLAN, "--node-limit", "2000", ...(DIMENSIONS[name] ?? [])];
    compare(args, { [name]: readFileSync(path) });
  });
}

for (const path of corpus("dsa").filter((path) => path.endsWith(".json"))) {
  test(`document ${basename(path)}`, () => {
    const written = compare(["convert", basename(path), "--output", "pools"], { [basename(path)]: readFileSync(path) });
    assert.equal(written.code, 0);
  });
}
