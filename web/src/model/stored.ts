// Layouts that the report page contains.

import { peakOf, profile, type Buffer, type View } from "./view";

/** One layout as `plimsoll report` writes it: a column per property of the buffers. */
export interface Stored {
  instance: string;
  algorithm: string;
  bound: number;
  capacity: number | null;
  names: string[];
  sizes: number[];
  offsets: number[];
  /** Start and length of the first interval of each lifespan. The length of an empty lifespan is 0. */
  starts: number[];
  lengths: number[];
  /** Further intervals: buffer, start, length. */
  more: [number, number, number][];
}

export function viewOf(stored: Stored): View {
  const buffers = stored.names.map((id, at): Buffer => {
    const [start, length] = [stored.starts[at], stored.lengths[at]];
    const parts: [number, number][] = length > 0 ? [[start, start + length]] : [];
    return { id, size: stored.sizes[at], parts, operator: "", kind: "", region: "" };
  });
  for (const [at, start, length] of stored.more) buffers[at].parts.push([start, start + length]);
  const offsets = Float64Array.from(stored.offsets);
  return {
    title: stored.instance,
    buffers,
    layouts: [{ name: stored.algorithm, offsets, peak: peakOf(buffers, offsets) }],
    bound: { value: stored.bound, reason: { text: "", kind: "" } },
    claim: "unknown",
    capacity: stored.capacity,
    load: profile(buffers),
    operators: [],
    regions: [],
  };
}
