// Tests the computations of the page itself: rows, live bytes, slack, recognised files.

import assert from "node:assert/strict";
import { test } from "node:test";
import { rows, withColumn, without } from "../src/model/csv.ts";
import { suggested } from "../src/model/ask.ts";
import { fragment, shared } from "../src/model/link.ts";
import { binary, source } from "../src/model/source.ts";
import { short } from "../src/model/units.ts";
import { liveAt, profile, slack, type Buffer, type View } from "../src/model/view.ts";

const buffer = (id: string, size: number, ...parts: [number, number][]): Buffer => ({ id, size, parts, operator: "", kind: "", region: "" });

const view = (...buffers: Buffer[]): View => ({
  title: "", buffers, layouts: [], bound: { value: 0, reason: { text: "" } }, claim: "", capacity: null, load: profile(buffers), operators: [],
});

test("quoted fields are read and written", () => {
  const text = 'id,offset,size\n"a,""b""",4,1\r\nc,5,2\n';
  assert.deepEqual(rows(text), [{ id: 'a,"b"', offset: "4", size: "1" }, { id: "c", offset: "5", size: "2" }]);
  assert.equal(without(text, "offset"), 'id,size\n"a,""b""",1\nc,2\n');
  assert.equal(withColumn("id\na\n", "alignment", "8"), "id,alignment\na,8\n");
});

test("live bytes, with gaps and buffers of size 0", () => {
  const all = view(buffer("a", 4, [0, 2], [4, 6]), buffer("b", 3, [1, 5]), buffer("c", 0, [0, 9]));
  assert.deepEqual([all.load.peak, all.load.step], [7, 1]);
  assert.deepEqual([...all.load.bytes], [4, 7, 3, 7, 4, 0, 0]);
  assert.deepEqual(liveAt(all, 4), [0, 1]);
  assert.deepEqual(liveAt(all, 3), [1]);
});

test("slack is the distance to the load while live", () => {
  const all = view(buffer("a", 10, [0, 4]), buffer("b", 5, [1, 2]), buffer("c", 2, [6, 8]), buffer("d", 1, [7, 9]));
  assert.deepEqual([...slack(all)], [0, 0, 12, 12]);
});

test("files are recognised by name and content", () => {
  assert.equal(source("a.csv", binary("id,lower,upper,size\n")).kind, "instance");
  assert.equal(source("pasted", binary("id,start,end,size,offset\n")).kind, "layout");
  assert.equal(source("x", binary('{"format": "plimsoll-graph"}')).name, "x.json");
  assert.equal(source("x.json", binary('{"instance": 1}')).kind, "pools");
  assert.equal(source("../-x.onnx", new Uint8Array([8, 7])).name, "x.onnx");
  assert.throws(() => source("a.txt", binary("hello")), /neither/);
  assert.throws(() => source("a.csv", new Uint8Array()), /empty/);
});

test("a link carries its instance", async () => {
  const own = { name: "a.csv", data: "aWQ=", settings: { solver: "exact", order: "exact", alignment: 1, capacity: null, seconds: 1, beside: "", shapes: [] } };
  assert.deepEqual(await shared((await fragment(own))!), own);
  assert.equal(await shared("#nonsense"), null);
});

test("suggestions of an error become options", () => {
  assert.deepEqual(suggested("x: 2 dimensions have no value; try --dim n=1 --input-shape y=1x2"), ["--dim", "n=1", "--input-shape", "y=1x2"]);
  assert.deepEqual(suggested("line 2: no number"), []);
});

test("sizes are short", () => {
  assert.deepEqual([short(0), short(1023), short(1024), short(1536 * 1024)], ["0 B", "1023 B", "1 KiB", "1.5 MiB"]);
});
