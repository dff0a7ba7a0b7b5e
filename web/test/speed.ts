// Compares the time of the engine with that of the native command on instances A to K. The two run
// alternately.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../src/engine/run.ts";

const { PLIMSOLL_ENGINE, PLIMSOLL_NATIVE, PLIMSOLL_CORPORA } = process.env;
const ROUNDS = Number(process.env.PLIMSOLL_ROUNDS ?? 5);
const scratch = mkdtempSync(join(tmpdir(), "plimsoll-speed-"));
const bytes = readFileSync(PLIMSOLL_ENGINE!);

/** Returns how long `work` takes, in milliseconds. */
function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

const middle = (all: number[]) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)];

let module!: WebAssembly.Module;
console.log(`compile: ${timed(() => (module = new WebAssembly.Module(bytes))).toFixed(0)} ms`);
console.log(`first run (list): ${timed(() => run(module, ["list", "--json"], {})).toFixed(0)} ms`);
console.log(`second run (list): ${timed(() => run(module, ["list", "--json"], {})).toFixed(0)} ms`);
// Other programs on the machine disturb medians more than the shortest times.
console.log("instance        native ms   first ms   later ms   ratio   ratio of the shortest");
const folder = join(PLIMSOLL_CORPORA!, "minimalloc");
const names = readdirSync(folder).filter((name) => /^[A-K]\..*csv$/.test(name)).sort();
for (const name of names) {
  const path = join(folder, name);
  const options = ["--no-capacity", "--json", "--threads", "1", "--node-limit", process.env.PLIMSOLL_NODES ?? "2000000"];
  const data = readFileSync(path);
  const [native, own]: [number[], number[]] = [[], []];
  const codes = new Set<string>();
  for (let round = 0; round < (native[0] < 1000 ? 3 * ROUNDS : ROUNDS); round++) {
    native.push(timed(() => {
      const done = spawnSync(PLIMSOLL_NATIVE!, ["solve", path, ...options], { cwd: scratch, encoding: "utf8", maxBuffer: 1 << 30 });
      codes.add(`${done.status} ${/"lower_bound":\d+/.exec(done.stdout)} ${/"peak":\d+/.exec(done.stdout)}`);
    }));
    own.push(timed(() => {
      const answer = run(module, ["solve", name, ...options], { [name]: data });
      codes.add(`${answer.code} ${/"lower_bound":\d+/.exec(answer.out)} ${/"peak":\d+/.exec(answer.out)}`);
    }));
  }
  const [first] = own;
  const [fast, later] = [middle(native), middle(own.slice(1))];
  const shortest = Math.min(...own) / Math.min(...native);
  console.log(`${name.padEnd(14)} ${fast.toFixed(1).padStart(10)} ${first.toFixed(1).padStart(10)} ${later.toFixed(1).padStart(10)} ${(later / fast).toFixed(2).padStart(7)} ${shortest.toFixed(2).padStart(7)}  ${[...codes].join(" | ")}`);
}
