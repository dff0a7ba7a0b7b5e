// The regions of a model with branches or loops: the run that the user chooses, the buffers of that run, and the
// addresses that two regions share.

import { useMemo } from "preact/hooks";
import type { Focus } from "../map/plot";
import { bytes, counted, exact } from "../model/units";
import { NO_TRIP, TRIPS, common, running, type Owner } from "../model/regions";
import { profile, type View } from "../model/view";
import { best, brief } from "./state";

/** What the user chose in the panel of regions. */
export interface Choice {
  /** The names of regions whose buffers are highlighted. */
  regions: string[];
  /** Per index of an operator: the region that it runs, [`NO_TRIP`] or [`TRIPS`]. */
  run: Record<number, string>;
}

export const NO_CHOICE: Choice = { regions: [], run: {} };

interface Props {
  view: View;
  choice: Choice;
  choose: (choice: Choice) => void;
  change: (part: Partial<Focus>) => void;
}

export function Regions({ view, choice, choose, change }: Props) {
  const owners = useMemo(() => {
    const all = new Map<number, Owner>();
    for (const { owner } of view.regions) if (owner && owner.control !== "call") all.set(owner.index, owner);
    return [...all.values()];
  }, [view]);
  const runs = useMemo(() => running(view.regions, choice.run), [view, choice.run]);
  const isRun = Object.keys(choice.run).length > 0;
  const load = useMemo(() => (isRun ? profile(view.buffers.filter((one) => runs.has(one.region))) : null), [view, runs, isRun]);
  if (view.regions.length < 2) return null;
  const apply = (next: Choice) => {
    choose(next);
    const own = running(view.regions, next.run);
    const isAll = next.regions.length === 0 && Object.keys(next.run).length === 0;
    const is = (region: string) => own.has(region) && (next.regions.length === 0 || next.regions.includes(region));
    change({ found: isAll ? null : Uint8Array.from(view.buffers, (one) => Number(is(one.region))) });
  };
  const toggle = (name: string) => apply({
    ...choice,
    regions: choice.regions.includes(name) ? choice.regions.filter((one) => one !== name) : [...choice.regions, name],
  });
  const decide = (index: number, value: string) => {
    const { [index]: _, ...rest } = choice.run;
    apply({ ...choice, run: value === "" ? rest : { ...rest, [index]: value } });
  };
  const layout = best(view);
  const ranges = (name: string) => view.buffers.flatMap((one, at): [number, number][] =>
    one.region === name && one.size > 0 ? [[layout.offsets[at], layout.offsets[at] + one.size]] : []);
  const [first, second] = choice.regions;
  const shared = layout && choice.regions.length === 2 ? common(ranges(first), ranges(second)) : null;
  const used = view.buffers.filter((one) => runs.has(one.region)).length;
  return (
    <fieldset class="regions">
      <legend>Regions</legend>
      <div class="buttons">
        {view.regions.map(({ name }) => (
          <button key={name} type="button" aria-pressed={choice.regions.includes(name)} onClick={() => toggle(name)}>{name}</button>
        ))}
      </div>
      <p role="status">
        {shared !== null ? `${first} and ${second} share ${bytes(shared)} of address space.` : "Choose two regions to see how much address space they share."}
      </p>
      <div class="run">
        {owners.filter((owner) => runs.has(owner.region)).map((owner) => (
          <div class="field" key={owner.index}>
            <label for={`run-${owner.index}`}>{owner.control === "loop" ? "Trips of" : "Branch of"} {brief(owner.operator, 28)}</label>
            <select id={`run-${owner.index}`} value={choice.run[owner.index] ?? ""} onChange={(event) => decide(owner.index, event.currentTarget.value)}>
              <option value="">any</option>
              {(owner.control === "loop" ? [NO_TRIP, TRIPS] : owner.regions).map((value) => <option key={value} value={value}>{value}</option>)}
            </select>
          </div>
        ))}
      </div>
      {load && (
        <p role="status">
          In this run, {counted(used, "buffer")} of {exact(view.buffers.length)} {used === 1 ? "is" : "are"} live, and at
          most {bytes(load.peak)} at once, at step {exact(load.step)}; over all runs, {bytes(view.load.peak)}.
          {Object.values(choice.run).includes(TRIPS) && " All trips of a loop use the same addresses."}
        </p>
      )}
    </fieldset>
  );
}
