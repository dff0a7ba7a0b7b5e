// Requests to the engine: which command solves a source, and how its output is read.

import type { Answer, Files } from "../engine/run";
import { rows, withColumn, without, type Row } from "./csv";
import type { Owner, Region } from "./regions";
import { binary, filesOf, text, type Source } from "./source";
import { peakOf, profile, type Bound, type Buffer, type Layout, type Operator, type Reason, type View } from "./view";

export interface Settings {
  solver: string;
  order: string;
  alignment: number;
  capacity: number | null;
  seconds: number;
  /** The layout to show beside the answer: that of an algorithm, [`FILE_ORDER`], or none if empty. */
  beside: string;
  /** Options for free dimensions, such as `--dim batch=1`. */
  shapes: string[];
}

export const DEFAULTS: Settings = { solver: "exact", order: "exact", alignment: 1, capacity: null, seconds: 20, beside: "", shapes: [] };

/** Runs the command; rejects if the run is cancelled. */
export type Ask = (args: string[], files: Files) => Promise<Answer>;

/** An error message of the command, without its name. */
export class Refused extends Error {}

/** Exit codes of runs with an answer: solved, infeasible, nothing found. */
const ANSWERED = [0, 1, 3];

async function answered(ask: Ask, args: string[], files: Files): Promise<Answer> {
  const answer = await ask(args, files);
  if (!ANSWERED.includes(answer.code)) throw new Refused(answer.err.replace(/^plimsoll: /gm, ""));
  return answer;
}

type Json = Record<string, unknown>;

const LAYOUT = "layout.csv";
const TENSORS = "tensors.json";
const CERTIFICATE = "certificate.json";

const number = (value: unknown): number => (typeof value === "number" ? value : 0);
const words = (value: unknown): string => (typeof value === "string" ? value : "");

function partsOf(row: Row): [number, number][] {
  const [lower, upper] = [Number(row.lower ?? row.begin ?? row.start), Number(row.upper ?? Number(row.end) + 1)];
  if (!row.gaps) return upper > lower ? [[lower, upper]] : [];
  const gaps = row.gaps.split(/\s+/).filter(Boolean).map((gap) => gap.split("-").map(Number));
  const parts: [number, number][] = [];
  let from = lower;
  for (const [start, end] of gaps) {
    if (start > from) parts.push([from, start]);
    from = row.upper === undefined ? end + 1 : end;
  }
  if (upper > from) parts.push([from, upper]);
  return parts;
}

const bufferOf = (row: Row): Buffer => ({
  id: row.id ?? row.buffer ?? row.buffer_id,
  size: Number(row.size),
  parts: partsOf(row),
  operator: "",
  kind: "",
  region: "",
});

function layoutOf(name: string, buffers: Buffer[], all: Row[]): Layout {
  const offsets = Float64Array.from(all, (row) => Number(row.offset));
  return { name, offsets, peak: peakOf(buffers, offsets) };
}

/** A reason without a certificate. The step is known if the reason is the load. */
const plainReason = (text: string, step: unknown): Reason => ({ text, kind: "", ...(typeof step === "number" ? { step } : {}) });

function reasonOf(certificate: Json | null, report: Json, buffers: Buffer[]): Reason {
  const witness = words(report.witness);
  const own = (certificate?.lower_bound as Json | undefined)?.witness as Json | undefined;
  if (!own) return plainReason(witness, (report.witness_summary as Json | undefined)?.step);
  const named = [own.buffers, own.buffer].flat().filter((id) => typeof id === "string");
  const ids = new Map(named.length > 0 ? buffers.map((buffer, at) => [buffer.id, at]) : []);
  const found = named.map((id) => ids.get(id as string)).filter((at) => at !== undefined);
  return {
    text: witness,
    kind: words(own.kind),
    step: typeof own.step === "number" ? own.step : undefined,
    window: typeof own.lower === "number" ? [own.lower, number(own.upper)] : undefined,
    buffers: found.length > 0 ? found : undefined,
  };
}

/** An answer with everything that the page derives from it. */
export interface Solved {
  view: View;
  /** The object that the command printed. */
  report: Json;
  /** The files that the command wrote, for export. */
  files: Files;
  /** The instance that was placed, as the engine read it. */
  placed: Source;
}

async function solve(ask: Ask, source: Source, settings: Settings): Promise<Solved> {
  const own = source.kind === "layout" ? rows(text(source.data)) : [];
  const isLayout = own.length > 0 && own.every((row) => row.offset !== "");
  // A complete layout is compared with the optimum, so its offsets must not be fixed in the instance.
  const free = isLayout ? without(text(source.data), "offset") : null;
  const aligned = settings.alignment > 1 ? withColumn(free ?? text(source.data), "alignment", String(settings.alignment)) : free;
  const placed = aligned === null ? source : { ...source, data: binary(aligned) };
  // Without the capacity, there is always a layout to show. The page compares its peak with the capacity.
  const options = ["--no-capacity", "--algorithm", settings.solver, "--time-limit", String(settings.seconds)];
  const files = ["--certificate", CERTIFICATE, "--output", LAYOUT];
  const args = ["solve", placed.name, "--json", ...files, ...options];
  const answer = await answered(ask, args, filesOf(placed));
  const report = JSON.parse(answer.out) as Json;
  const found = answer.files[LAYOUT] ? rows(text(answer.files[LAYOUT])) : null;
  const all = found ?? rows(text(placed.data));
  const buffers = all.map(bufferOf);
  const certificate = answer.files[CERTIFICATE] ? (JSON.parse(text(answer.files[CERTIFICATE])) as Json) : null;
  const layouts: Layout[] = [];
  if (isLayout) layouts.push(layoutOf("yours", buffers, inOrder(own, buffers)));
  if (found) layouts.push(layoutOf(settings.solver === "exact" && report.claim === "optimal" ? "optimum" : settings.solver, buffers, found));
  const reason = reasonOf(certificate, report, buffers);
  const bound: Bound = { value: number(report.lower_bound), reason };
  const view: View = {
    title: words(report.instance),
    buffers,
    layouts,
    bound,
    claim: words(report.claim),
    capacity: settings.capacity,
    load: profile(buffers),
    operators: [],
    regions: [],
  };
  return { view, report, files: answer.files, placed };
}

/** Returns the rows in the order of the buffers. */
function inOrder(all: Row[], buffers: Buffer[]): Row[] {
  const named = new Map(all.map((row) => [bufferOf(row).id, row]));
  return buffers.map((buffer) => named.get(buffer.id)!);
}

/** Returns the regions of a report. */
function regionsOf(rows: Json[]): Region[] {
  const nameOf = new Map(rows.map((row) => [row.region, `${number(row.region)}:${words(row.name)}`]));
  const owners = new Map<number, Owner>();
  return rows.map((row) => {
    const name = nameOf.get(row.region)!;
    const own = row.owner as Json | null | undefined;
    if (!own) return { name, owner: null, position: 0 };
    const index = number(own.index);
    const control = own.control as Owner["control"];
    const owner = owners.get(index) ?? { index, operator: words(own.operator), region: nameOf.get(own.region) ?? "", control, regions: [] };
    owners.set(index, owner);
    return { name, owner, position: owner.regions.push(name) - 1 };
  });
}

/** Returns the operators of a placement, per region and position in the order of the region. */
function operatorsOf(listed: Json): Map<string, Json> {
  const all = (listed.operators ?? []) as Json[];
  return new Map(all.map((operator) => [placeOf(operator.region, operator.step), operator]));
}

const placeOf = (region: unknown, position: unknown) => JSON.stringify([region, position]);

/** Returns the tensor of each buffer. Tensors that share the memory of another one do not name a buffer. */
function tensorsOf(listed: Json): Map<string, Json> {
  const all = (listed.tensors ?? []) as Json[];
  return new Map(all.filter((tensor) => tensor.shares === "").map((tensor) => [words(tensor.tensor), tensor]));
}

async function plan(ask: Ask, source: Source, settings: Settings): Promise<Solved> {
  const capacity = settings.capacity === null ? [] : ["--capacity", String(settings.capacity)];
  const options = [
    ...["--order", settings.order, "--algorithm", settings.solver],
    ...["--time-limit", String(settings.seconds), "--align", String(settings.alignment)],
  ];
  const args = ["plan", source.name, "--json", "--tensors", TENSORS, "--output", LAYOUT, ...options, ...capacity, ...settings.shapes];
  const answer = await answered(ask, args, filesOf(source));
  const report = JSON.parse(answer.out) as Json;
  const all = rows(text(answer.files[LAYOUT] ?? new Uint8Array()));
  const listed = answer.files[TENSORS] ? (JSON.parse(text(answer.files[TENSORS])) as Json) : {};
  const regions = report.regions as Json[];
  const [operators, tensors] = [operatorsOf(listed), tensorsOf(listed)];
  const buffers = all.map(bufferOf).map((buffer) => {
    const tensor = tensors.get(buffer.id);
    const writer = operators.get(placeOf(tensor?.region, tensor?.operator));
    return { ...buffer, operator: words(writer?.operator), kind: writer ? words(writer.kind) : "input", region: words(tensor?.region) };
  });
  const witness = words(report.witness) || words(regions[0]?.witness);
  const anyOrder = { value: number(report.joint_bound), text: words(report.joint_witness ?? regions[0]?.joint_witness) };
  const view: View = {
    title: words(report.graph),
    buffers,
    layouts: all.length > 0 ? [layoutOf("plan", buffers, all)] : [],
    bound: { value: number(report.lower_bound), reason: plainReason(witness, report.load_step ?? regions[0]?.load_step), anyOrder },
    claim: words(report.claim),
    capacity: settings.capacity,
    load: profile(buffers),
    operators: [...operators.values()].map((operator): Operator => ({
      lower: number(operator.lower), upper: number(operator.upper), name: words(operator.operator), kind: words(operator.kind),
    })),
    regions: regionsOf(regions),
  };
  const data = answer.files[LAYOUT] ? binary(without(text(answer.files[LAYOUT]), "offset")) : source.data;
  return { view, report, files: answer.files, placed: { name: `${view.title}.csv`, data, kind: "instance" } };
}

/** Solves a source that is not a document with several memories. */
export function solved(ask: Ask, source: Source, settings: Settings): Promise<Solved> {
  return source.kind === "model" ? plan(ask, source, settings) : solve(ask, source, settings);
}

/** Returns the instances in a document of dsa-solver, one per memory. */
export async function pools(ask: Ask, source: Source): Promise<Source[]> {
  const answer = await answered(ask, ["convert", source.name, "--output", "pools/"], filesOf(source));
  return Object.entries(answer.files).map(([name, data]) => ({ name: name.replace(/^pools\//, ""), data, kind: "instance" }));
}

/**
 * Returns the capacity in a file name such as `A.1048576.csv`, by the rule of the command: a number of fewer than
 * four digits that begins with 0 or follows a digit is part of the name, as in `mobilenet_v1_1.0.csv`.
 */
export function capacityOf(name: string): number | null {
  const [, before, digits] = name.match(/([^/\\])\.(\d+)\.csv$/i) ?? [];
  if (digits === undefined || (digits.length < 4 && (/\d/.test(before) || digits.startsWith("0")))) return null;
  return Number(digits);
}

/** Reads a capacity such as `256KiB` as the command does. */
export async function capacityFrom(ask: Ask, text: string): Promise<number | null> {
  if (text === "") return null;
  const empty: Source = { name: "empty.csv", data: binary("id,lower,upper,size\n"), kind: "instance" };
  const answer = await answered(ask, ["solve", empty.name, "--json", `--capacity=${text}`], filesOf(empty));
  return number((JSON.parse(answer.out) as Json).capacity);
}

/** The buffers to spill so that the rest fits. */
export interface Spilled {
  buffers: { id: string; size: number }[];
  traffic: number;
  bound: number;
  claim: string;
}

/** Asks which buffers to spill at a capacity. */
export async function spilled(ask: Ask, placed: Source, capacity: number, seconds: number): Promise<Spilled> {
  const args = ["spill", placed.name, "--json", "--capacity", String(capacity), "--time-limit", String(seconds)];
  const report = JSON.parse((await answered(ask, args, filesOf(placed))).out) as Json;
  const buffers = ((report.spilled ?? []) as Json[]).map((row) => ({ id: words(row.id), size: number(row.size) }));
  return { buffers, traffic: number(report.traffic), bound: number(report.lower_bound), claim: words(report.claim) };
}

/** Timelines on one machine. */
export interface Overlapped {
  /** Seconds. */
  bound: number;
  best: string | null;
  /** Why a schedule does not fit: the first reason that the command reports. */
  reason: string;
  schedules: { name: string; makespan: number | null; waiting: number | null }[];
  /** The picture of the best timeline. */
  gantt: Uint8Array | null;
}

interface OnMachine {
  /** A name, or the text of a machine file. */
  machine: string;
  isFile: boolean;
  capacity: number;
  buffers: number;
  shapes: string[];
}

/** Asks for the timelines of a model. */
export async function overlapped(ask: Ask, source: Source, on: OnMachine): Promise<Overlapped> {
  const files = { ...filesOf(source), ...(on.isFile ? { "own.toml": binary(on.machine) } : {}) };
  const args = ["overlap", source.name, "--json", "--machine", on.isFile ? "own.toml" : on.machine];
  const options = ["--capacity", String(on.capacity), "--buffers", String(on.buffers), "--time-limit", "2", "--gantt", "gantt.svg"];
  const answer = await answered(ask, [...args, ...options, ...on.shapes], files);
  const report = JSON.parse(answer.out) as Json;
  const all = (report.schedules ?? []) as Json[];
  const schedules = all.map((one) => ({
    name: words(one.algorithm),
    makespan: typeof one.makespan_seconds === "number" ? one.makespan_seconds : null,
    waiting: typeof one.waiting_percent === "number" ? one.waiting_percent : null,
  }));
  return {
    bound: number(report.lower_bound_seconds),
    best: words(report.best) || null,
    reason: words(all.find((one) => one.reason)?.reason),
    schedules,
    gantt: answer.files["gantt.svg"] ?? null,
  };
}

/** Represents the plan in the order of the file. */
export const FILE_ORDER = "file order";

/** Computes another layout of the same buffers: by another algorithm, or in the order of the file. */
export async function beside(ask: Ask, source: Source, solved: Solved, settings: Settings): Promise<Layout> {
  const ids = solved.view.buffers;
  if (settings.beside === FILE_ORDER) {
    const { view } = await plan(ask, source, { ...settings, order: "as-in-file" });
    const index = new Map(view.buffers.map((buffer, at) => [buffer.id, at]));
    const order = ids.map((buffer) => index.get(buffer.id)!);
    const buffers = order.map((at) => view.buffers[at]);
    const [layout] = view.layouts;
    const offsets = Float64Array.from(order, (at) => layout.offsets[at]);
    const own = { ...view, buffers, bound: { ...view.bound, reason: { text: "", kind: "" } } };
    return { name: FILE_ORDER, offsets, peak: layout.peak, own };
  }
  const options = ["--algorithm", settings.beside, "--time-limit", String(settings.seconds)];
  const args = ["solve", solved.placed.name, "--json", "--no-capacity", "--output", LAYOUT, ...options];
  const answer = await answered(ask, args, filesOf(solved.placed));
  if (!answer.files[LAYOUT]) throw new Refused(`${settings.beside} found no layout within the limits`);
  return layoutOf(settings.beside, ids, inOrder(rows(text(answer.files[LAYOUT])), ids));
}

/** Returns the options that an error message suggests for free dimensions: `--dim batch=1`. */
export function suggested(message: string): string[] {
  const [, tip] = message.split("; try ");
  return tip?.startsWith("--") ? tip.split(/\s+/).filter(Boolean) : [];
}
