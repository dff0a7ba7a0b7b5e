// The regions of a model: which of them run, and the addresses that two of them share.

/** An operator that runs regions. */
export interface Owner {
  index: number;
  operator: string;
  /** The region that the operator is in. */
  region: string;
  /** `call` runs all regions once. The last region of a loop is its body. */
  control: "branch" | "loop" | "call";
  /** The names of the regions that it runs. */
  regions: string[];
}

export interface Region {
  name: string;
  /** The operator that runs it, or `null` for the body of the model. */
  owner: Owner | null;
  /** The position among the regions of its owner. */
  position: number;
}

/** A loop that ends before its first trip. */
export const NO_TRIP = "no trip";
/** A loop that makes a trip or more; all trips use the same addresses. */
export const TRIPS = "1 trip or more";

/** Returns the names of the regions that run. If there is no choice for an operator, all its regions run. */
export function running(regions: Region[], run: Record<number, string>): Set<string> {
  const all = new Set<string>();
  // The list contains the region of an owner before the regions that it runs.
  for (const { name, owner, position } of regions) {
    const chosen = owner && run[owner.index];
    if (owner && !all.has(owner.region)) continue;
    if (owner?.control === "branch" && chosen && chosen !== name) continue;
    // The condition of a loop runs even if there is no trip.
    const isBody = owner?.control === "loop" && position === owner.regions.length - 1;
    if (isBody && chosen === NO_TRIP) continue;
    all.add(name);
  }
  return all;
}

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
