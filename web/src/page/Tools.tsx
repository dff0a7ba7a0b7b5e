// The search for buffers, and the choice of colours.

import type { Scheme } from "../map/colours";
import type { View } from "../model/view";

/** Returns which buffers a search finds, or `null` for an empty search. */
export function matches(view: View, words: string): Uint8Array | null {
  const text = words.trim().toLowerCase();
  if (text === "") return null;
  return Uint8Array.from(view.buffers, (one) => Number(`${one.id}\n${one.operator}`.toLowerCase().includes(text)));
}

interface Props {
  view: View;
  search: string;
  find: (words: string) => void;
  scheme: Scheme;
  colour: (scheme: Scheme) => void;
}

export function Tools({ view, search, find, scheme, colour }: Props) {
  const isModel = view.operators.length > 0;
  return (
    <div class="tools">
      <label>Find <input type="search" value={search} onInput={(event) => find(event.currentTarget.value)} placeholder={isModel ? "name or operator" : "name"} /></label>
      <label>Colours{" "}
        <select value={scheme} onChange={(event) => colour(event.currentTarget.value as Scheme)}>
          <option value="kind">{isModel ? "by kind" : "by buffer"}</option>
          <option value="size">by size</option>
          <option value="slack">by slack</option>
        </select>
      </label>
    </div>
  );
}
