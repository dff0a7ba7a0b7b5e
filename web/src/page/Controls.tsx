// The controls: each change runs the engine again.

import { useEffect, useState } from "preact/hooks";
import { FILE_ORDER, type Settings } from "../model/ask";
import { exact, short } from "../model/units";
import type { Kind } from "../model/source";
import type { View } from "../model/view";
import { best } from "./state";

const ALIGNMENTS = [1, 4, 8, 16, 32, 64, 128, 256, 4096];

interface Props {
  kind: Kind;
  settings: Settings;
  view: View | null;
  /** The algorithms that the engine lists, or nothing until it has listed them. */
  solvers: string[];
  orders: string[];
  change: (part: Partial<Settings>) => void;
  /** Reads a capacity with the units of the command, and changes it. */
  limit: (text: string) => void;
}

export function Controls({ kind, settings, view, solvers, orders, change, limit }: Props) {
  const [typed, type] = useState("");
  useEffect(() => type(String(settings.capacity ?? "")), [settings.capacity]);
  const select = (label: string, id: string, value: string, all: string[], set: (value: string) => void) => (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => set(event.currentTarget.value)}>
        {(all.includes(value) ? all : [value, ...all]).map((name) => <option key={name} value={name}>{name || "nothing"}</option>)}
      </select>
    </div>
  );
  const peak = view ? (best(view)?.peak ?? view.bound.value) : 0;
  const most = Math.max(1, Math.ceil(peak * 1.25));
  return (
    <section aria-labelledby="controls-title" class="controls">
      <h2 id="controls-title">Controls</h2>
      {select("Algorithm", "solver", settings.solver, solvers, (solver) => change({ solver }))}
      {kind === "model" && select("Order of the operators", "order", settings.order, orders, (order) => change({ order }))}
      {select("Alignment in bytes", "alignment", String(settings.alignment), ALIGNMENTS.map(String), (value) => change({ alignment: Number(value) }))}
      {select("Compare with", "beside", settings.beside, ["", ...(kind === "model" ? [FILE_ORDER] : []), ...solvers], (beside) => change({ beside }))}
      {select("Seconds", "seconds", String(settings.seconds), ["1", "5", "20", "60", "300"], (value) => change({ seconds: Number(value) }))}
      <div class="field wide">
        <label for="capacity">Capacity{settings.capacity === null ? " (none)" : `: ${short(settings.capacity)}`}</label>
        <input id="capacity" value={typed} placeholder="such as 256KiB" onInput={(event) => type(event.currentTarget.value)}
          onChange={(event) => limit(event.currentTarget.value.trim())} />
        <input type="range" aria-label="Capacity" min={0} max={most} value={settings.capacity ?? most}
          aria-valuetext={settings.capacity === null ? "none" : `${exact(settings.capacity)} bytes`}
          onInput={(event) => {
            const value = Number(event.currentTarget.value);
            change({ capacity: value >= most ? null : value });
          }} />
      </div>
    </section>
  );
}
