// Tests that every row of the page states what the command states, on models whose operators run in a new order.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { DEFAULTS, solved, type Solved } from "../src/model/ask.ts";
import { rows, type Row } from "../src/model/csv.ts";
import { binary, source, text } from "../src/model/source.ts";
import { liveAt, operatorAt, type Buffer, type Operator } from "../src/model/view.ts";
import { matches } from "../src/page/Tools.tsx";
import { generated, native } from "./native.ts";

const { PLIMSOLL_CORPORA } = process.env;

/** Families of graphs and seeds for which the order that the command finds differs from that of the file. */
const GRAPHS: [string, number[]][] = [
  ["in-tree", [1, 2, 3]],
  ["layered", [1, 2, 3]],
  ["series-parallel", [1, 2, 3]],
  ["shared-if", [1, 2, 3]],
  ["control-mix", [1]],
  ["randwire-ws", [1, 2]],
  ["randwire-er", [1, 2]],
  ["randwire-ba", [1, 2]],
  ["unet", [1]],
  ["inception", [1]],
  ["darts", [1]],
  ["nasnet-a", [1]],
];

interface Writer {
  name: string;
  kind: string;
  region: string;
}

interface RegionFile {
  name: string;
  operators: { name?: string; kind: string; outputs?: string[]; regions?: RegionFile[] }[];
}

/** Returns the operator that writes each tensor, as the file of a graph states it. */
function writersOf(graph: Uint8Array): Map<string, Writer> {
  const writers = new Map<string, Writer>();
  const visit = (region: RegionFile) => {
    for (const { name, kind, outputs = [], regions = [] } of region.operators) {
      const called = name || `${kind}(${outputs[0].split(";")[0] || outputs[0]})`;
      for (const output of outputs) writers.set(output, { name: called, kind, region: region.name });
      regions.forEach(visit);
    }
  };
  visit((JSON.parse(text(graph)) as { body: RegionFile }).body);
  return writers;
}

/** Plans a model as the page does, with the options of the page and a list of the orders. */
async function planned(name: string, data: Uint8Array, shapes: string[]): Promise<Solved & { orders: Row[] }> {
  const ask = async (args: string[], files: Record<string, Uint8Array>) => native([...args, "--orders", "orders.csv"], files);
  const answer = await solved(ask, source(name, data), { ...DEFAULTS, seconds: 1, shapes });
  return { ...answer, orders: rows(text(answer.files["orders.csv"])) };
}

const meets = ({ parts }: Buffer, one: Operator) => parts.some(([lower, upper]) => lower < one.upper && one.lower < upper);

/** Compares the view of the page with the files of the command. Returns whether the order changed. */
function compare({ view, report, files, orders }: Solved & { orders: Row[] }, graph: Uint8Array): boolean {
  const writers = writersOf(graph);
  const placed = new Map(rows(text(files["layout.csv"])).map((row) => [row.id, row]));
  const tensors = JSON.parse(text(files["tensors.json"])).tensors as Record<string, unknown>[];
  const listed = new Map(tensors.filter((row) => row.shares === "").map((row) => [row.tensor, row]));
  const position = new Map(orders.map((row) => [`${row.region} ${row.step}`, row]));
  const [layout] = view.layouts;
  assert.equal(view.buffers.length, placed.size);
  assert.equal(layout.peak, report.arena);
  view.buffers.forEach((buffer, at) => {
    const [row, tensor] = [placed.get(buffer.id)!, listed.get(buffer.id)!];
    const shown = [buffer.size, layout.offsets[at], buffer.parts[0][0], buffer.parts.at(-1)![1], buffer.region];
    assert.deepEqual(shown, [Number(row.size), Number(row.offset), Number(row.lower), Number(row.upper), tensor.region], buffer.id);
    const scratch = /^scratch of (.*)#\d+~*$/.exec(buffer.id);
    const writer = writers.get(buffer.id);
    assert.equal(buffer.operator, writer?.name ?? scratch?.[1] ?? "", buffer.id);
    if (writer) assert.deepEqual([buffer.kind, buffer.region.replace(/^\d+:/, "")], [writer.kind, writer.region], buffer.id);
    else if (!scratch) assert.deepEqual([buffer.kind, tensor.operator], ["input", null], buffer.id);
    const ordered = position.get(`${String(tensor.region)} ${String(tensor.operator)}`);
    assert.deepEqual([buffer.operator, buffer.kind], [ordered?.operator ?? "", ordered?.kind ?? "input"], buffer.id);
    const writes = (one: Operator) => one.name === buffer.operator && meets(buffer, one);
    assert.equal(view.operators.some(writes), buffer.operator !== "", `${buffer.id} is not live while it is written`);
  });
  const needs = report.needs as { step: number; operator: string | null; live: number; buffers: string[] };
  assert.deepEqual([view.load.step, view.load.peak, operatorAt(view, needs.step)?.name ?? null], [needs.step, needs.live, needs.operator]);
  assert.deepEqual(liveAt(view, needs.step).map((at) => view.buffers[at].id), needs.buffers);
  for (const { operator } of orders) {
    const found = matches(view, operator)!;
    const words = operator.toLowerCase();
    view.buffers.forEach((buffer, at) => {
      const names = [buffer.id, writers.get(buffer.id)?.name ?? ""];
      assert.equal(found[at] === 1, names.some((name) => name.toLowerCase().includes(words)), `${operator}: ${buffer.id}`);
    });
  }
  if (view.regions.length === 1) {
    const start = view.operators[0].lower;
    assert.deepEqual(orders.map((_, at) => operatorAt(view, start + at)?.name), orders.map((row) => row.operator));
  }
  return orders.some((row, at) => at > 0 && orders[at - 1].region === row.region && Number(orders[at - 1].index) > Number(row.index));
}

for (const [family, seed] of GRAPHS.flatMap(([family, seeds]) => seeds.map((seed): [string, number] => [family, seed]))) {
  test(`rows of ${family}, seed ${seed}`, async () => {
    const graph = generated(family, "json", seed);
    assert(compare(await planned("a.json", graph, []), graph), "the order did not change");
  });
}

// An input without readers adds a step before the first operator. The scratch belongs to the operator that uses it.
const IDLE = `{ "format": "plimsoll-graph", "version": 1, "name": "idle",
  "tensors": [
    { "name": "x", "bytes": 70, "role": "input" }, { "name": "idle", "bytes": 30, "role": "input" },
    { "name": "y", "bytes": 7, "role": "output" }, { "name": "wide", "bytes": 900 }, { "name": "flat", "bytes": 900 },
    { "name": "high", "bytes": 700 }, { "name": "a", "bytes": 20 }, { "name": "b", "bytes": 11 } ],
  "body": { "name": "body", "inputs": ["x", "idle"], "outputs": ["y"], "operators": [
    { "name": "grow", "kind": "Conv", "inputs": ["x"], "outputs": ["wide"] },
    { "name": "rise", "kind": "Conv", "inputs": ["x"], "outputs": ["high"] },
    { "name": "shape", "kind": "Reshape", "inputs": ["wide"], "outputs": ["flat"],
      "aliases": [{ "input": "wide", "output": "flat", "kind": "view" }] },
    { "name": "pool", "kind": "MaxPool", "inputs": ["flat"], "outputs": ["a"], "scratch": 300 },
    { "name": "fold", "kind": "MaxPool", "inputs": ["high"], "outputs": ["b"], "scratch": 5 },
    { "name": "join", "kind": "Concat", "inputs": ["a", "b"], "outputs": ["y"] } ] } }`;

test("rows with an unread input, a view and scratch memory", async () => {
  const answer = await planned("a.json", binary(IDLE), []);
  assert(compare(answer, binary(IDLE)), "the order did not change");
  assert.equal(answer.view.operators[0].lower, 1);
  const written = Object.fromEntries(answer.view.buffers.map(({ id, operator, kind }) => [id, `${operator}:${kind}`]));
  assert.equal(written["scratch of pool#3"], "pool:MaxPool");
  assert.deepEqual([written.wide, written.idle, "flat" in written], ["grow:Conv", ":input", false]);
});

const SHAPES: Record<string, string[]> = {
  "silero_vad.onnx": ["--input-shape", "input=1x576", "--input-shape", "state=2x1x128"],
  "silero_vad_16k_op15.onnx": ["--input-shape", "input=1x576", "--input-shape", "state=2x1x128"],
};

const corpus = (folder: string) =>
  PLIMSOLL_CORPORA ? readdirSync(join(PLIMSOLL_CORPORA, folder)).map((name) => join(PLIMSOLL_CORPORA, folder, name)) : [];

for (const path of [...corpus("onnx"), ...corpus("tflite")]) {
  const name = basename(path);
  test(`rows of ${name}`, async () => {
    const [data, shapes] = [readFileSync(path), SHAPES[name] ?? []];
    const imported = native(["import", name, "--output", "graph.json", ...shapes], { [name]: data });
    compare(await planned(name, data, shapes), imported.files["graph.json"]);
  });
}
