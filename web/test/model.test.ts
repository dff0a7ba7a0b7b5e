// Tests the computations of the page itself, such as rows, live bytes, slack and the recognition of files.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ticks } from "../src/map/plot.ts";
import { Raster, type Rectangles } from "../src/map/raster.ts";
import { rows, withColumn, without } from "../src/model/csv.ts";
import { capacityOf, suggested } from "../src/model/ask.ts";
import { fragment, shared } from "../src/model/link.ts";
import { NO_TRIP, TRIPS, running, type Owner, type Region } from "../src/model/regions.ts";
import { binary, source } from "../src/model/source.ts";
import { viewOf } from "../src/model/stored.ts";
import { short } from "../src/model/units.ts";
import { brief, floor, missing, peakStep } from "../src/page/state.ts";
import { draws } from "./mutate.ts";
import { liveAt, profile, slack, type Buffer, type View } from "../src/model/view.ts";

const buffer = (id: string, size: number, ...parts: [number, number][]): Buffer => ({ id, size, parts, operator: "", kind: "", region: "" });

const view = (...buffers: Buffer[]): View => ({
  title: "", buffers, layouts: [], bound: { value: 0, reason: { text: "", kind: "" } }, claim: "", capacity: null, load: profile(buffers), operators: [], regions: [],
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

test("stored layouts have gaps and buffers of size 0", () => {
  const columns = { names: ["a", "b", "c"], sizes: [4, 3, 0], offsets: [0, 4, 9], starts: [0, 1, 0], lengths: [2, 4, 0] };
  const all = viewOf({ instance: "i", algorithm: "x", bound: 7, capacity: 8, ...columns, more: [[0, 4, 2]] });
  assert.deepEqual(all.buffers, [buffer("a", 4, [0, 2], [4, 6]), buffer("b", 3, [1, 5]), buffer("c", 0)]);
  assert.deepEqual([all.load.peak, all.load.step, all.bound.value, all.capacity], [7, 1, 7, 8]);
  assert.deepEqual([all.layouts[0].name, all.layouts[0].peak], ["x", 7]);
});

test("slack is the distance to the load while live", () => {
  const all = view(buffer("a", 10, [0, 4]), buffer("b", 5, [1, 2]), buffer("c", 2, [6, 8]), buffer("d", 1, [7, 9]));
  assert.deepEqual([...slack(all)], [0, 0, 12, 12]);
});

test("the end of a fixed buffer and contradicting offsets are reasons", () => {
  const own = view(buffer("a", 4, [0, 3]), buffer("c", 6, [10, 12]));
  own.layouts = [{ name: "optimum", offsets: Float64Array.of(0, 8), peak: 14 }];
  own.bound = { value: 14, reason: { text: "end of fixed buffer 'c'", kind: "fixed", buffers: [1] } };
  assert.equal(floor(own), "No layout has a lower peak: fixed buffer 'c' ends at 14.");
  assert.equal(peakStep(own), 10);
  own.layouts[0] = { name: "optimum", offsets: Float64Array.of(0, 0), peak: 6 };
  own.bound = { value: 6, reason: { text: "the largest buffer", kind: "clique", buffers: [1] } };
  assert.equal(floor(own), "No layout has a lower peak: buffer 'c' alone has 6 bytes.");
  const none = { ...own, layouts: [], claim: "unknown" };
  assert.equal(missing(none), "No layout was found within the limits.");
  none.claim = "infeasible";
  none.capacity = 5;
  assert.equal(missing(none), "No layout fits into 5 bytes.");
  none.bound = { value: 0, reason: { text: "buffers 'a' and 'c' conflict", kind: "contradiction", buffers: [0, 1] } };
  assert.equal(missing(none), "No layout exists: buffers 'a' and 'c' conflict.");
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

test("a number in a file name is a capacity or part of the name", () => {
  const read = ["A.1048576.csv", "input.12.csv", "net1.4096.CSV", "mobilenet_v1_1.0.csv", "net_0.25.csv", "x.007.csv", ".5.csv", "a.csv"];
  assert.deepEqual(read.map(capacityOf), [1048576, 12, 4096, null, null, null, null, null]);
});

test("suggestions of an error become options", () => {
  assert.deepEqual(suggested("x: 2 dimensions have no value; try --dim n=1 --input-shape y=1x2"), ["--dim", "n=1", "--input-shape", "y=1x2"]);
  assert.deepEqual(suggested("line 2: no number"), []);
});

test("sizes are short", () => {
  assert.deepEqual([short(0), short(1023), short(1024), short(1536 * 1024)], ["0 B", "1023 B", "1 KiB", "1.5 MiB"]);
});

test("a picture that was moved equals a new one", () => {
  Object.assign(globalThis, { ImageData: class {
    readonly data: Uint8ClampedArray;
    constructor(readonly width: number, readonly height: number) {
      this.data = new Uint8ClampedArray(4 * width * height);
    }
  } });
  const next = draws(3);
  const count = 200;
  const column = () => new Float64Array(count);
  const all: Rectangles = { lower: column(), upper: column(), bottom: column(), top: column(), owner: Int32Array.from({ length: count }, (_, at) => at) };
  for (let at = 0; at < count; at++) {
    // No two rectangles overlap.
    [all.lower[at], all.bottom[at]] = [10 * (at % 20) + next(3), 10 * Math.floor(at / 20) + next(3)];
    [all.upper[at], all.top[at]] = [all.lower[at] + 1 + next(7), all.bottom[at] + 1 + next(7)];
  }
  const fill = Uint32Array.from({ length: count }, (_, at) => 100 + at);
  const moving = new Raster(all);
  const [width, height] = [97, 61];
  let [x0, y0] = [30, 20];
  for (let move = 0; move < 200; move++) {
    const wide = move < 100 ? 90.5 : 23.25;
    const camera = { x0, x1: x0 + wide, y0, y1: y0 + 41 };
    const pixels = (raster: Raster) => [...new Uint32Array(raster.draw(width, height, camera, fill, 7, 9).data.buffer)];
    const [found, expected] = [pixels(moving), pixels(new Raster(all))];
    assert.deepEqual(found, expected);
    x0 += (next(41) - 20) * (wide / width);
    y0 += (next(41) - 20) * (41 / height);
  }
});

test("long names keep their end and the kind of an operator", () => {
  assert.equal(brief("short"), "short");
  assert.equal(brief("0123456789", 6), "…56789");
  assert.equal(brief("CONV(0123456789abcdef)", 18), "CONV(…56789abcdef)");
});

test("branches and trips decide which regions run", () => {
  const owner = (index: number, region: string, control: Owner["control"], ...regions: string[]): Region[] => {
    const own = { index, operator: "", region, control, regions };
    return regions.map((name, position) => ({ name, owner: own, position }));
  };
  const all: Region[] = [
    { name: "0", owner: null, position: 0 },
    ...owner(1, "0", "branch", "then", "else"),
    ...owner(2, "then", "loop", "cond", "body"),
    ...owner(3, "body", "call", "callee"),
  ];
  const of = (run: Record<number, string>) => [...running(all, run)].join(" ");
  assert.equal(of({}), "0 then else cond body callee");
  assert.equal(of({ 1: "else", 2: TRIPS }), "0 else");
  assert.equal(of({ 1: "then", 2: TRIPS }), "0 then cond body callee");
  assert.equal(of({ 2: NO_TRIP }), "0 then else cond");
});

test("ticks of very large numbers are finitely many", () => {
  assert.deepEqual(ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert(ticks(2 ** 63, 2 ** 63 + 4096, 8).length <= 4097);
  assert(ticks(2 ** 63, 2 ** 64, 8).length < 20);
});
