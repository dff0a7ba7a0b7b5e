// The regions of a model with branches or loops: their buffers, and the addresses that two of them share.

import { useMemo } from "preact/hooks";
import type { Focus } from "../map/plot";
import { bytes } from "../model/units";
import type { View } from "../model/view";
import { best } from "./state";

/** Returns the number of bytes that are in both lists of intervals. O(n log n). */
export function common(a: [number, number][], b: [number, number][]): number {
  const [own, other] = [merged(a), merged(b)];
  let [at, total] = [0, 0];
  for (const [low, high] of own) {
    while (at < other.length && other[at][1] <= low) at += 1;
    for (let next = at; next < other.length && other[next][0] < high; next++) {
      total += Math.min(high, other[next][1]) - Math.max(low, other[next][0]);
    }
  }
  return total;
}

function merged(all: [number, number][]): [number, number][] {
  const result: [number, number][] = [];
  for (const [low, high] of [...all].sort((a, b) => a[0] - b[0])) {
    const last = result[result.length - 1];
    if (last && low <= last[1]) last[1] = Math.max(last[1], high);
    else result.push([low, high]);
  }
  return result;
}

interface Props {
  view: View;
  chosen: string[];
  choose: (regions: string[]) => void;
  change: (part: Partial<Focus>) => void;
}

export function Regions({ view, chosen, choose, change }: Props) {
  const names = useMemo(() => [...new Set(view.buffers.map((buffer) => buffer.region))].filter(Boolean).sort(), [view]);
  if (names.length < 2) return null;
  const toggle = (name: string) => {
    const next = chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name];
    choose(next);
    change({ found: next.length === 0 ? null : Uint8Array.from(view.buffers, (one) => Number(next.includes(one.region))) });
  };
  const layout = best(view);
  const ranges = (name: string) => view.buffers.flatMap((one, at): [number, number][] =>
    one.region === name && one.size > 0 ? [[layout.offsets[at], layout.offsets[at] + one.size]] : []);
  const shared = layout && chosen.length === 2 ? common(ranges(chosen[0]), ranges(chosen[1])) : null;
  return (
    <fieldset class="regions">
      <legend>Regions</legend>
      <div class="buttons">
        {names.map((name) => (
          <button key={name} type="button" aria-pressed={chosen.includes(name)} onClick={() => toggle(name)}>{name}</button>
        ))}
      </div>
      <p role="status">
        {shared !== null ? `${chosen[0]} and ${chosen[1]} share ${bytes(shared)} of address space.` : "Choose two regions to see how much address space they share."}
      </p>
    </fieldset>
  );
}
