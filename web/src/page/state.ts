// Sentences about an answer, used by all parts of the page.

import { bytes, counted, exact, percent } from "../model/units";
import { liveAt, operatorAt, type Buffer, type View } from "../model/view";

/** Returns the best layout that was computed, which is the last one. */
export const best = (view: View) => view.layouts[view.layouts.length - 1];

/** `a (8,000 bytes, 50 %), b (..) and 3 more` */
export function made(view: View, step: number, most: number): string {
  const live = liveAt(view, step);
  const whole = live.reduce((sum, at) => sum + view.buffers[at].size, 0);
  const part = (at: number) => {
    const { id, size } = view.buffers[at];
    return `${brief(id)} (${counted(size, "byte")}, ${percent(size, whole)})`;
  };
  const named = live.slice(0, most).map(part);
  const rest = live.length - named.length;
  if (rest > 0) return `${named.join(", ")} and ${exact(rest)} more`;
  return named.length > 1 ? `${named.slice(0, -1).join(", ")} and ${named[named.length - 1]}` : (named[0] ?? "nothing");
}

/** Shortens a long name from its start, because names of tensors differ at their end. Keeps `KIND(` of operators. */
export function brief(name: string, most = 40): string {
  if (name.length <= most) return name;
  const [, kind = "", inner = ""] = /^(\w+)\((.+)\)$/.exec(name) ?? [];
  const rest = most - kind.length - 2;
  return inner !== "" && rest > 8 ? `${kind}(${brief(inner, rest)})` : `…${name.slice(1 - most)}`;
}

/** Names a step and the operator that runs at this step. */
export function stepName(view: View, step: number): string {
  const operator = operatorAt(view, step);
  return operator ? `step ${exact(step)}, while ${brief(operator.name)} runs` : `step ${exact(step)}`;
}

/** Returns the first buffer that ends at the peak of the best layout, if the peak exceeds the live bytes of every step. */
export function topmost(view: View): Buffer | null {
  const layout = best(view);
  if (!layout || layout.peak === view.load.peak) return null;
  return view.buffers.find(({ size }, at) => size > 0 && layout.offsets[at] + size === layout.peak) ?? null;
}

/** Returns the first step at which the best layout reaches its peak or, without a layout, the step with the most live bytes. */
export const peakStep = (view: View): number => topmost(view)?.parts[0]?.[0] ?? view.load.step;

/** States why the command found no layout. */
export function missing(view: View): string {
  const { reason } = view.bound;
  if (view.claim !== "infeasible") return "No layout was found within the limits.";
  // The command places an instance without a capacity.
  if (reason.kind === "contradiction" || view.capacity === null) return `No layout exists: ${reason.text}.`;
  return `No layout fits into ${bytes(view.capacity)}.`;
}

/** States the lower bound on the peak, and its reason. */
export function floor(view: View): string {
  const { value, reason } = view.bound;
  const peak = best(view)?.peak;
  const head = peak === value ? `No layout has a lower peak` : `No layout has a peak below ${bytes(value)}`;
  const one = reason.buffers?.length === 1 ? brief(view.buffers[reason.buffers[0]].id) : null;
  if (one !== null && reason.kind === "fixed") return `${head}: fixed buffer '${one}' ends at ${exact(value)}.`;
  if (one !== null) return `${head}: buffer '${one}' alone has ${bytes(value)}.`;
  if (reason.buffers && reason.step === undefined) {
    return `${head}: ${exact(reason.buffers.length)} buffers cannot share memory with each other (${reason.text}).`;
  }
  if (reason.step !== undefined) return `${head}: at step ${exact(reason.step)}, ${exact(value)} bytes are live.`;
  if (reason.window) return `${head}: the buffers between steps ${exact(reason.window[0])} and ${exact(reason.window[1])} need that much.`;
  if (reason.text.startsWith("completed search")) return `${head}: a completed search rules out every lower peak.`;
  return `${head} (${reason.text}).`;
}

/** States the lower bound that holds for all operator orders. */
export function anyOrder(view: View): string | null {
  const bound = view.bound.anyOrder;
  if (!bound || bound.value === 0) return null;
  const reason = bound.text.startsWith("completed search") ? "a completed search rules out every lower peak" : bound.text;
  return `No order of the operators needs less than ${bytes(bound.value)}${reason ? `: ${reason}` : ""}.`;
}
