// The buffers that are live at one step, or those that a search found, largest first.

import { useMemo } from "preact/hooks";
import type { Focus } from "../map/plot";
import { bytes, counted, exact, percent } from "../model/units";
import { bytesAt, heightAt, liveAt, type View } from "../model/view";
import { best, brief, peakStep, stepName } from "./state";

/** Maximum number of rows. The map shows all buffers. */
const MOST_ROWS = 300;

interface Props {
  view: View;
  /** The start of the identifiers of its elements. */
  id: string;
  focus: Focus;
  change: (part: Partial<Focus>) => void;
}

export function Table({ view, id, focus, change }: Props) {
  const layout = best(view);
  const shown = useMemo(() => {
    if (!focus.found) return liveAt(view, focus.step);
    const found = view.buffers.flatMap((_, at) => (focus.found![at] ? [at] : []));
    return found.sort((a, b) => view.buffers[b].size - view.buffers[a].size || a - b);
  }, [view, focus.found, focus.step]);
  const live = bytesAt(view.load, focus.step);
  const height = useMemo(() => (layout ? heightAt(view, layout, focus.step) : live), [view, layout, focus.step]);
  const hole = height - live;
  const peak = useMemo(() => peakStep(view), [view]);
  const isPeak = layout !== undefined && focus.step === peak;
  const caption = focus.found
    ? `${counted(shown.length, "buffer")} found`
    : `${isPeak ? "What the peak is made of" : "What is live"}: ${stepName(view, focus.step)}`;
  return (
    <section aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{caption}</h2>
      {!focus.found && (
        <p>
          {counted(shown.length, "buffer")} {shown.length === 1 ? "holds" : "hold"} {bytes(live)}
          {hole > 0 ? `; ${exact(hole)} bytes below the highest of them are free` : layout ? ", without holes" : ""}.{" "}
          {layout && !isPeak && <button type="button" class="plain" onClick={() => change({ step: peak })}>Back to the peak</button>}
        </p>
      )}
      <div class="rows" tabIndex={0} role="region" aria-labelledby={`${id}-title`}>
        <table>
          <thead>
            <tr>
              <th scope="col">Buffer</th>
              <th scope="col" class="number">Bytes</th>
              <th scope="col" class="number">Share</th>
              <th scope="col" class="number">Offset</th>
              <th scope="col" class="number">Steps</th>
              {view.operators.length > 0 && <th scope="col">Written by</th>}
            </tr>
          </thead>
          <tbody>
            {shown.slice(0, MOST_ROWS).map((at) => {
              const buffer = view.buffers[at];
              const last = buffer.parts[buffer.parts.length - 1];
              return (
                <tr
                  key={at}
                  class={at === focus.selected ? "selected" : at === focus.hovered ? "hovered" : ""}
                  onMouseEnter={() => change({ hovered: at })}
                  onMouseLeave={() => change({ hovered: -1 })}
                >
                  <th scope="row">
                    <button type="button" class="plain" aria-pressed={at === focus.selected} title={buffer.id}
                      onClick={() => change({ selected: at === focus.selected ? -1 : at })}>
                      {brief(buffer.id)}
                    </button>
                  </th>
                  <td class="number">{exact(buffer.size)}</td>
                  <td class="number">{percent(buffer.size, focus.found ? view.load.peak : live)}</td>
                  <td class="number">{layout ? exact(layout.offsets[at]) : "–"}</td>
                  <td class="number">{buffer.parts.length > 0 ? `${exact(buffer.parts[0][0])}–${exact(last[1])}` : "–"}</td>
                  {view.operators.length > 0 && <td title={buffer.operator}>{brief(buffer.operator, 28)}</td>}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {shown.length > MOST_ROWS && <p>The {exact(MOST_ROWS)} largest are listed.</p>}
    </section>
  );
}
