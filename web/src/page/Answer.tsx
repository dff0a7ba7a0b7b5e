// The answer in sentences: the peak, the buffers that make it up, the lower bound, and whether the layout fits.

import { useMemo } from "preact/hooks";
import type { Focus } from "../map/plot";
import type { Settings, Solved, Spilled } from "../model/ask";
import { bytes, counted } from "../model/units";
import { anyOrder, best, brief, floor, made, missing, peakStep, stepName, topmost } from "./state";

interface Props {
  answer: Solved;
  spill: Spilled | null;
  focus: Focus;
  settings: Settings;
  change: (part: Partial<Focus>) => void;
}

export function Answer({ answer, spill, focus, settings, change }: Props) {
  const { view } = answer;
  const layout = best(view);
  const other = view.layouts.length > 1 ? view.layouts[0] : null;
  const { reason } = view.bound;
  const canLight = reason.step !== undefined || reason.window !== undefined || reason.buffers !== undefined;
  const light = () => {
    const end = reason.kind === "fixed" && reason.buffers ? view.buffers[reason.buffers[0]].parts[0]?.[0] : undefined;
    const step = reason.step ?? reason.window?.[0] ?? end;
    change({ lit: !focus.lit, ...(step !== undefined && !focus.lit ? { step } : {}) });
  };
  const order = anyOrder(view);
  const peak = useMemo(() => made(view, view.load.step, 3), [view]);
  const top = topmost(view);
  const exists = view.bound.reason.kind !== "contradiction";
  return (
    <section class="answer" aria-labelledby="answer-title">
      <h2 id="answer-title">{brief(view.title, 60)}</h2>
      {layout ? (
        <p class="lead">
          The peak is <strong>{bytes(layout.peak)}</strong>.{" "}
          {layout.peak === view.load.peak
            ? `At ${stepName(view, view.load.step)}, it is made of ${peak}.`
            : `${top ? `At ${stepName(view, peakStep(view))}, ${brief(top.id)} ends there. ` : ""}At most ${bytes(view.load.peak)} are live at once, at ${stepName(view, view.load.step)}: ${peak}.`}
        </p>
      ) : (
        <p class="lead">{missing(view)}</p>
      )}
      {other && other.peak !== layout.peak && (
        <p>The layout {other.name === "yours" ? "in the file" : `of ${other.name}`} has a peak of {bytes(other.peak)}, which is {bytes(Math.abs(other.peak - layout.peak))} {other.peak > layout.peak ? "more" : "less"}.</p>
      )}
      {exists && (
        <p>
          {floor(view)}{" "}
          {canLight && (
            <button type="button" class="plain" aria-pressed={focus.lit} onClick={light}>
              {focus.lit ? "Hide the reason" : "Show the reason"}
            </button>
          )}
        </p>
      )}
      {order && <p>{order}</p>}
      {layout && layout.peak > view.bound.value && (
        <p>The gap between the peak and the lower bound is {bytes(layout.peak - view.bound.value)}; a longer time limit may close it.</p>
      )}
      {settings.capacity !== null && layout && <Fits {...{ spill }} peak={layout.peak} bound={view.bound.value} capacity={settings.capacity} />}
    </section>
  );
}

function Fits({ peak, bound, capacity, spill }: { peak: number; bound: number; capacity: number; spill: Spilled | null }) {
  if (peak <= capacity) return <p>It fits into {bytes(capacity)}, with {bytes(capacity - peak)} to spare.</p>;
  const proved = bound > capacity;
  return (
    <div class="short">
      <p>
        {proved ? `No layout fits into ${bytes(capacity)}` : `This layout does not fit into ${bytes(capacity)}`}: the shortfall is{" "}
        {proved && bound < peak ? `${bytes(bound - capacity)} to ${bytes(peak - capacity)}` : bytes(peak - capacity)}.
      </p>
      {spill && spill.buffers.length > 0 && (
        <details>
          <summary>
            The rest fits if {counted(spill.buffers.length, "buffer")} {spill.buffers.length === 1 ? "is" : "are"} spilled, which moves {bytes(spill.traffic)}
            {spill.claim === "optimal" ? "; no choice moves less" : `; every choice moves at least ${bytes(spill.bound)}`}.
          </summary>
          <ul>{spill.buffers.slice(0, 100).map((one) => <li key={one.id}>{brief(one.id)}: {counted(one.size, "byte")}</li>)}</ul>
        </details>
      )}
    </div>
  );
}
