// Tests the page of `plimsoll report` in Chromium: its layouts, with and without script.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { DESKTOP, PHONE, accessible, open, shot } from "./browser.ts";

const { PLIMSOLL_NATIVE, PLIMSOLL_CORPORA } = process.env;
const scratch = mkdtempSync(join(tmpdir(), "plimsoll-report-"));
const skip = !PLIMSOLL_NATIVE;

function plimsoll(...args: string[]): void {
  const done = spawnSync(PLIMSOLL_NATIVE!, args, { encoding: "utf8", cwd: scratch });
  assert.equal(done.status, 0, done.stderr);
}

/** Two instances, of which one is from a file with a capacity. */
function instances(): string[] {
  if (PLIMSOLL_CORPORA) return ["A", "D"].map((name) => join(PLIMSOLL_CORPORA, "minimalloc", `${name}.1048576.csv`));
  return ["A", "D"].map((name, at) => {
    plimsoll("generate", "minimalloc-like", "--buffers", "60", "--seed", String(at), "--out", `${name}.csv`);
    return `${name}.csv`;
  });
}

/** Writes the page of a benchmark, and returns its path. */
function benchmark(): string {
  const path = join(scratch, "bench", "report", "report.html");
  if (existsSync(path)) return path;
  plimsoll("bench", ...instances(), "--problems", "offsets", "--algorithms", "first-fit-size,first-fit-start", "--out", "bench", "--report");
  return path;
}

/** Writes the page of a record with the given layouts (CSV, or `null` for a missing file), and returns its path. */
function recorded(name: string, layouts: Record<string, string | null>): string {
  const folder = join(scratch, name);
  mkdirSync(join(folder, "layouts"), { recursive: true });
  const rows = Object.entries(layouts).map(([instance, text], at) => {
    if (text !== null) writeFileSync(join(folder, "layouts", `${at}.csv`), text);
    return `6,${at},,,${instance},h${at},offsets,bytes,,by hand,external,1,,,,,0,1,done,feasible,64,1,,layouts/${at}.csv`;
  });
  const header =
    "schema_version,run,key,suite,instance,sha256,problem,unit,terms,algorithm,kind,threads,decide,capacity," +
    "time_limit,node_limit,seed,repetition,status,claim,value,lower_bound,error,layout";
  writeFileSync(join(folder, "rows.csv"), `${[header, ...rows].join("\n")}\n`);
  plimsoll("report", name, "--out", `${name}-report`);
  return join(scratch, `${name}-report`, "report.html");
}

/** Unfolds the parts of the page with these titles. */
async function unfold(page: Page, ...titles: (string | RegExp)[]): Promise<void> {
  for (const title of titles) await page.locator("summary").getByText(title, { exact: typeof title === "string" }).click();
}

for (const [name, size] of [["desktop", DESKTOP], ["phone", PHONE]] as const) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`layouts on a ${name}, ${colorScheme}`, { skip }, () => open(benchmark(), async (page) => {
      assert.equal(await page.locator("canvas").count(), 0);
      await unfold(page, /^Layouts: 2 of 2$/, "A");
      await page.locator("canvas").first().scrollIntoViewIfNeeded();
      await shot(page, `report-${name}-${colorScheme}`);
      assert.equal(await page.locator("canvas").count(), 1);
      await unfold(page, "D");
      await page.locator("canvas").nth(1).scrollIntoViewIfNeeded();
      assert.equal(await page.locator("canvas").count(), 2);
      await accessible(page);
      const width = await page.evaluate("document.documentElement.scrollWidth");
      assert(Number(width) <= size.width, `the page is ${width} pixels wide`);
      assert.equal(await page.evaluate("new Set([...document.querySelectorAll('[id]')].map((one) => one.id)).size === document.querySelectorAll('[id]').length"), true);
    }, { size, colorScheme }));
  }
}

/** Two buffers side by side: the name is hostile, and the second has a gap. */
const SMALL = 'id,lower,upper,size,gaps,offset\n"</script><b>x",0,4,64,,0\ngappy,4,10,32,6-8,0\nempty,2,3,0,,0\n';

test("the map shows buffers, and moves by pointer, keyboard and wheel", { skip }, () => open(recorded("small", { tiny: SMALL }), async (page) => {
  await unfold(page, /^Layouts: 1 of 1$/, "tiny");
  const canvas = page.locator("canvas");
  await canvas.scrollIntoViewIfNeeded();
  const box = (await canvas.boundingBox())!;
  const at = (step: number) => [box.x + 58 + (step / 10) * (box.width - 64), box.y + box.height - 60] as const;
  await page.mouse.move(...at(2));
  assert.match(await page.locator(".tip").innerText(), /^<\/script><b>x\s+64 bytes at 0 B \(0\)\s+live in steps 0–4/);
  await page.mouse.move(...at(9));
  assert.match(await page.locator(".tip").innerText(), /^gappy\s+32 bytes at 0 B \(0\)\s+live in steps 4–6, 8–10/);
  await page.mouse.move(...at(7));
  assert.equal(await page.locator(".tip").count(), 0);
  assert.match(await page.locator(".layout h2").innerText(), /^What the peak is made of: step 0/);
  await page.mouse.click(at(9)[0], box.y + 60);
  assert.match(await page.locator(".layout h2").innerText(), /^What is live: step 9/);
  await page.getByRole("searchbox", { name: "Find" }).fill("EMPTY");
  assert.equal(await page.locator(".layout h2").innerText(), "1 buffer found");

  const picture = () => canvas.screenshot();
  await page.mouse.move(5, 5);
  await page.evaluate("document.activeElement.blur()");
  let before = await picture();
  const changes = async (what: string, isChange = true) => {
    await page.waitForTimeout(100);
    await page.mouse.move(5, 5);
    const now = await picture();
    assert.equal(!now.equals(before), isChange, what);
    before = now;
  };
  // Without focus, the wheel scrolls the page.
  await canvas.hover();
  await page.mouse.wheel(0, -1);
  await changes("wheel without focus", false);
  await page.evaluate("document.querySelector('canvas').focus()");
  await canvas.hover();
  await page.mouse.wheel(0, -300);
  await changes("wheel");
  for (const key of ["+", "ArrowRight", "ArrowUp", "-", "0"]) {
    await page.keyboard.press(key);
    await changes(key);
  }
  await page.getByRole("button", { name: "Zoom in on by hand" }).click();
  await changes("button");
}));

test("figures and largest buffers are readable without script", { skip }, () => open(recorded("plain", { tiny: SMALL }), async (page) => {
  await unfold(page, /^Layouts: 1 of 1$/, "tiny");
  await page.getByText("3 buffers. The layout of by hand has a peak of 64 bytes.").waitFor();
  const table = page.getByRole("region", { name: "largest buffers" });
  assert.match(await table.innerText(), /<\/script><b>x\s+64\s+0\s+\[0, 4\)/);
  assert.equal(await page.locator("canvas").count(), 0);
  await table.scrollIntoViewIfNeeded();
  await shot(page, "report-plain");
}, { javaScriptEnabled: false }));

test("layouts that cannot be drawn have a reason", { skip }, () => {
  const overlapping = "id,lower,upper,size,offset\na,0,2,8,0\nb,1,3,8,4\n";
  return open(recorded("wrong", { tiny: SMALL, missing: null, overlapping, broken: "id,lower\na,0\n" }), async (page) => {
    await unfold(page, /^Layouts: 1 of 4$/, "missing", "overlapping", "broken");
    await page.getByText(/^missing is not shown: cannot open the layout layouts\/1\.csv: /).waitFor();
    await page.getByText("overlapping is not shown: the layout 'layouts/2.csv' is not valid").waitFor();
    await page.getByText(/^broken is not shown: cannot draw the layout: layouts\/3\.csv/).waitFor();
    await accessible(page);
  });
});

/** Reports when the first picture of a map was drawn. */
const WATCH = `(() => {
  const draw = CanvasRenderingContext2D.prototype.putImageData;
  CanvasRenderingContext2D.prototype.putImageData = function (...all) {
    draw.apply(this, all);
    window.drawnAt ??= performance.now();
  };
  addEventListener("toggle", () => (window.openedAt = performance.now()), true);
})()`;

test("a layout of 200,000 buffers is drawn", { skip, timeout: 300_000 }, () => {
  // Buffers of nearby steps are at different addresses.
  const row = (at: number) => `tensor_${at},${at},${at + 2 + (at % 7)},${64 * (1 + (at % 99))},${6400 * (at % 10)}`;
  const text = `id,lower,upper,size,offset\n${Array.from({ length: 200_000 }, (_, at) => row(at)).join("\n")}\n`;
  const path = recorded("large", { large: text });
  return open(path, async (page) => {
    await unfold(page, /^Layouts: 1 of 1$/, "large");
    await page.locator("canvas").scrollIntoViewIfNeeded();
    await page.waitForTimeout(500);
    const [first, loaded] = (await page.evaluate("[drawnAt - openedAt, performance.timing.domInteractive - performance.timing.navigationStart]")) as [number, number];
    console.log(`200,000 buffers: ${statSync(path).size} bytes, parsed after ${loaded.toFixed(0)} ms, first picture ${first.toFixed(0)} ms after the part was unfolded`);
    assert(first < 10_000, `${first} ms`);
    await shot(page, "report-large");
  }, { script: WATCH });
});

test("the page allows no connections", { skip }, () => {
  assert.match(readFileSync(benchmark(), "utf8"), /Content-Security-Policy" content="default-src 'none'/);
});
