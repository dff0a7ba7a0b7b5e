// Runs the native command, for tests that compare the page with it.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Answer, Files } from "../src/engine/run.ts";

const { PLIMSOLL_NATIVE } = process.env;
assert(PLIMSOLL_NATIVE, "set PLIMSOLL_NATIVE, or use `make test-web`");
const scratch = mkdtempSync(join(tmpdir(), "plimsoll-web-"));

/** Runs the native command in a folder of its own. */
export function native(args: string[], files: Files): Answer {
  const folder = mkdtempSync(join(scratch, "run-"));
  for (const [name, data] of Object.entries(files)) writeFileSync(join(folder, name), data);
  const done = spawnSync(PLIMSOLL_NATIVE!, args, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 30 });
  const all = readdirSync(folder, { recursive: true }).map(String);
  const written = all.filter((name) => !(name in files) && statSync(join(folder, name)).isFile());
  const contents = Object.fromEntries(written.map((name) => [name, readFileSync(join(folder, name))]));
  return { code: done.status ?? -1, out: done.stdout, err: done.stderr, files: contents };
}

/** Generates a file of a preset. */
export function generated(preset: string, suffix: string, seed = 1): Buffer {
  const file = join(mkdtempSync(join(scratch, "made-")), `made.${suffix}`);
  execFileSync(PLIMSOLL_NATIVE!, ["generate", preset, "--seed", String(seed), "--out", file], { stdio: "ignore" });
  return readFileSync(file);
}
