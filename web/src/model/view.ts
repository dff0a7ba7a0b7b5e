// The data that the page draws: buffers with lifespans, one or two layouts, and the bound with its reason.

import type { Region } from "./regions";

export interface Buffer {
  id: string;
  size: number;
  /** The half-open intervals in which the buffer is live. */
  parts: [number, number][];
  /** The operator that produces it, or an empty text. */
  operator: string;
  /** The kind of that operator, or `input` if no operator writes the buffer. */
  kind: string;
  /** The region of a model that it belongs to, or an empty text. */
  region: string;
}

export interface Layout {
  name: string;
  /** The offset of every buffer in bytes. */
  offsets: Float64Array;
  peak: number;
  /** The buffers of this layout, if the operators run in another order; the indices are the same. */
  own?: View;
}

/** The parts of the reason for the bound that can be drawn. */
export interface Reason {
  text: string;
  /** The kind of the witness in the certificate, or an empty text. */
  kind: string;
  step?: number;
  window?: [number, number];
  /** Indices of buffers. */
  buffers?: number[];
}

export interface Bound {
  value: number;
  reason: Reason;
  /** For models: the bound over all orders of the operators, and its reason. */
  anyOrder?: { value: number; text: string };
}

export interface Operator {
  /** The first step at which it runs, and the step after the last one. */
  lower: number;
  upper: number;
  name: string;
  kind: string;
}

export interface View {
  title: string;
  buffers: Buffer[];
  layouts: Layout[];
  bound: Bound;
  /** `optimal`, `feasible`, `infeasible` or `unknown`. */
  claim: string;
  capacity: number | null;
  load: Profile;
  operators: Operator[];
  /** For models: the body and, after the region of their owner, the regions of operators. */
  regions: Region[];
}

/** Live bytes over time: `bytes[i]` from `steps[i]` up to `steps[i + 1]`. */
export interface Profile {
  steps: Float64Array;
  bytes: Float64Array;
  peak: number;
  /** The first step with the most live bytes. */
  step: number;
}

/** Computes the live bytes over time in O(n log n) for n intervals. */
export function profile(buffers: Buffer[]): Profile {
  const changes = new Map<number, number>();
  const add = (step: number, bytes: number) => changes.set(step, (changes.get(step) ?? 0) + bytes);
  for (const { size, parts } of buffers) {
    for (const [lower, upper] of parts) {
      add(lower, size);
      add(upper, -size);
    }
  }
  const steps = Float64Array.from(changes.keys()).sort();
  const bytes = new Float64Array(steps.length);
  let [live, peak, step] = [0, 0, 0];
  steps.forEach((at, index) => {
    live += changes.get(at) ?? 0;
    bytes[index] = live;
    if (live > peak) [peak, step] = [live, at];
  });
  return { steps, bytes, peak, step };
}

/** Returns the index of the last change at or before a step, or -1. */
export function indexAt(load: Profile, step: number): number {
  let [low, high] = [0, load.steps.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (load.steps[middle] <= step) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Returns the live bytes at a step. */
export function bytesAt(load: Profile, step: number): number {
  const at = indexAt(load, step);
  return at < 0 ? 0 : load.bytes[at];
}

/** Returns the buffers that are live at a step, largest first. */
export function liveAt(view: View, step: number): number[] {
  const is = (buffer: Buffer) => buffer.parts.some(([lower, upper]) => lower <= step && step < upper);
  const live = view.buffers.flatMap((buffer, at) => (buffer.size > 0 && is(buffer) ? [at] : []));
  return live.sort((a, b) => view.buffers[b].size - view.buffers[a].size || a - b);
}

/** Returns the highest address in use at a step of a layout. */
export function heightAt(view: View, layout: Layout, step: number): number {
  return liveAt(view, step).reduce((top, at) => Math.max(top, layout.offsets[at] + view.buffers[at].size), 0);
}

/** Returns the peak of a layout in bytes. */
export function peakOf(buffers: Buffer[], offsets: Float64Array): number {
  return buffers.reduce((top, { size }, at) => (size > 0 ? Math.max(top, offsets[at] + size) : top), 0);
}

/**
 * Returns the slack of each buffer: the load minus the most live bytes at any step of its lifespan. Buffers
 * without slack are live at a step with the most live bytes. O(n log n).
 */
export function slack(view: View): Float64Array {
  const { load, buffers } = view;
  const table: Float64Array[] = [load.bytes];
  for (let width = 1; 2 * width <= load.bytes.length; width *= 2) {
    const last = table[table.length - 1];
    table.push(Float64Array.from({ length: load.bytes.length - 2 * width + 1 }, (_, at) => Math.max(last[at], last[at + width])));
  }
  const most = (from: number, to: number) => {
    if (to <= from) return load.bytes[from] ?? 0;
    const level = Math.floor(Math.log2(to - from));
    return Math.max(table[level][from], table[level][to - 2 ** level]);
  };
  return Float64Array.from(buffers, ({ parts }) => {
    const high = parts.map(([lower, upper]) => most(indexAt(load, lower), indexAt(load, upper - 1) + 1));
    return load.peak - Math.max(0, ...high);
  });
}

/** Returns the innermost operator that runs at a step. An operator with regions runs while they run. */
export function operatorAt(view: View, step: number): Operator | undefined {
  const running = view.operators.filter(({ lower, upper }) => lower <= step && step < upper);
  return running.sort((a, b) => b.lower - a.lower)[0];
}
