// Tests the built page in Chromium.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium, type Browser, type Page } from "playwright-core";

const { PLIMSOLL_PAGE, PLIMSOLL_NATIVE, PLIMSOLL_CORPORA, PLIMSOLL_SHOTS, PLIMSOLL_AXE } = process.env;
assert(PLIMSOLL_PAGE && PLIMSOLL_AXE, "set PLIMSOLL_PAGE and PLIMSOLL_AXE, or use `make test-web`");
const axe = readFileSync(PLIMSOLL_AXE, "utf8");
const scratch = mkdtempSync(join(tmpdir(), "plimsoll-page-"));
const executablePath = ["chromium", "chromium-browser", "google-chrome"].map((name) => `/usr/bin/${name}`).find(existsSync);

let browser: Browser;
before(async () => {
  const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"];
  browser = await chromium.launch({ executablePath, args });
});
after(() => browser.close());

interface Size {
  width: number;
  height: number;
}

const DESKTOP: Size = { width: 1280, height: 900 };
const PHONE: Size = { width: 390, height: 844 };

/** Opens the page. Fails on messages in the console, and on requests except for the page and its worker. */
async function visit(
  work: (page: Page) => Promise<void>,
  size = DESKTOP,
  colorScheme: "light" | "dark" = "light",
  hash = "",
  path = PLIMSOLL_PAGE!,
): Promise<void> {
  const context = await browser.newContext({ viewport: size, colorScheme, acceptDownloads: true });
  const page = await context.newPage();
  const heard: string[] = [];
  const url = pathToFileURL(path).href;
  page.on("console", (message) => heard.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => heard.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const asked = request.url();
    if (asked.split("#")[0] !== url && !asked.startsWith("blob:")) heard.push(`request: ${asked.slice(0, 100)}`);
  });
  await page.goto(url + hash);
  await work(page);
  assert.deepEqual(heard, []);
  await context.close();
}

const answered = (page: Page) => page.locator(".answer").waitFor({ timeout: 60_000 });
const idle = (page: Page) => page.locator(".busy").waitFor({ state: "detached", timeout: 60_000 });
const example = async (page: Page, name: string) => {
  await page.getByRole("button", { name }).click();
  await answered(page);
  await idle(page);
};
const file = async (page: Page, path: string) => {
  await page.setInputFiles("#file", path);
  await answered(page);
  await idle(page);
};
const given = (name: string, text: string) => {
  const path = join(scratch, name);
  writeFileSync(path, text);
  return path;
};

/** Returns an instance with random lifespans and sizes. */
function random(buffers: number): string {
  let state = 1;
  const next = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const row = (at: number) => {
    const lower = next(buffers);
    return `b${at},${lower},${lower + 1 + next(buffers / 10)},${1 + next(10_000)}`;
  };
  return `id,lower,upper,size\n${Array.from({ length: buffers }, (_, at) => row(at)).join("\n")}\n`;
}

/** Waits for a condition outside the page, because its policy forbids waiting inside. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await holds()) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  assert.fail("the condition never held");
}

async function shot(page: Page, name: string): Promise<void> {
  if (!PLIMSOLL_SHOTS) return;
  mkdirSync(PLIMSOLL_SHOTS, { recursive: true });
  await page.waitForTimeout(200);
  await page.screenshot({ path: join(PLIMSOLL_SHOTS, `${name}.png`) });
}

async function accessible(page: Page): Promise<void> {
  // The policy of the page forbids further scripts, so the check runs through the debugger.
  const found = await page.evaluate(`(async () => { ${axe}; return (await axe.run()).violations
    .filter((one) => ["serious", "critical"].includes(one.impact))
    .map((one) => one.id + ": " + one.nodes.map((node) => node.target.join(" ")).join(", ")); })()`);
  assert.deepEqual(found, []);
}

for (const [name, size] of [["desktop", DESKTOP], ["phone", PHONE]] as const) {
  for (const scheme of ["light", "dark"] as const) {
    test(`accessible on a ${name}, ${scheme}`, () => visit(async (page) => {
      await accessible(page);
      await example(page, "A wasteful layout");
      await shot(page, `layouts-${name}-${scheme}`);
      await accessible(page);
      const width = await page.evaluate("document.documentElement.scrollWidth");
      assert(Number(width) <= size.width, `the page is ${width} pixels wide`);
      await example(page, "SqueezeNet");
      await shot(page, `model-${name}-${scheme}`);
      await accessible(page);
    }, size, scheme));
  }
}

test("every example is answered", () => visit(async (page) => {
  const names = await page.locator(".shelf strong").allTextContents();
  assert(names.length >= 8);
  for (const name of names) {
    await example(page, name);
    assert.equal(await page.locator("[role=alert]").count(), 0, name);
    assert.match(await page.locator(".answer").innerText(), /The peak is .* byte/, name);
  }
}));

test("a layout stands beside the optimum", () => visit(async (page) => {
  await example(page, "A wasteful layout");
  assert.deepEqual(await page.locator("figcaption strong").allTextContents(), ["yours", "optimum"]);
  assert.match(await page.locator("figcaption").first().innerText(), /110 bytes, 50 above the bound/);
  assert.match(await page.locator("figcaption").last().innerText(), /60 bytes, as low as possible/);
}));

test("map, table and search are linked", () => visit(async (page) => {
  await example(page, "A wasteful layout");
  await page.getByRole("button", { name: "a", exact: true }).click();
  assert.equal(await page.locator("tr.selected").count(), 1);
  await page.getByRole("button", { name: "Show the reason" }).click();
  await page.getByRole("button", { name: "Hide the reason" }).waitFor();
  await page.getByRole("searchbox").fill("d");
  assert.equal(await page.locator("#table-title").innerText(), "1 buffers found");
  await page.getByRole("searchbox").fill("");
  const box = (await page.locator("canvas").first().boundingBox())!;
  await page.mouse.move(box.x + 58 + 0.1 * (box.width - 64), box.y + box.height - 60);
  assert.match(await page.locator(".tip").innerText(), /^a\s+30 bytes at 0 B/);
  await page.mouse.click(box.x + box.width - 20, box.y + 60);
  assert.match(await page.locator("#table-title").innerText(), /^What is live: step 8/);
  await page.getByRole("button", { name: "Back to the peak" }).click();
  assert.match(await page.locator("#table-title").innerText(), /^What the peak is made of: step 2/);
}));

test("the map moves by keyboard and wheel", () => visit(async (page) => {
  await example(page, "Above the load");
  const picture = () => page.locator("canvas").screenshot();
  let before = await picture();
  await page.locator("canvas").focus();
  for (const key of ["+", "ArrowRight", "ArrowUp", "-", "0"]) {
    await page.keyboard.press(key);
    await page.waitForTimeout(60);
    const now = await picture();
    assert(!now.equals(before), key);
    before = now;
  }
  await page.mouse.move(600, 600);
  await page.mouse.wheel(0, -300);
  await page.waitForTimeout(60);
  assert(!(await picture()).equals(before));
}));

test("capacity below the floor shows shortfall and spilling", () => visit(async (page) => {
  await example(page, "Five buffers");
  await page.locator("#capacity").fill("10");
  await page.locator("#capacity").blur();
  await page.getByText("No layout fits into 10 bytes: the shortfall is 1 byte.").waitFor();
  await page.getByText(/The rest fits if \d+ buffers? (is|are) spilled/).waitFor();
  await page.locator("#capacity").fill("16");
  await page.locator("#capacity").blur();
  await page.getByText("It fits into 16 bytes, with 5 bytes to spare.").waitFor();
}));

test("algorithm and order are controls", () => visit(async (page) => {
  await example(page, "Random wiring");
  const lead = () => page.locator(".lead").innerText();
  const optimum = await lead();
  await page.getByLabel("Order of the operators").selectOption("as-in-file");
  await page.waitForTimeout(400);
  await idle(page);
  assert.notEqual(await lead(), optimum);
  await page.getByLabel("Order of the operators").selectOption("exact");
  await page.getByLabel("Algorithm").selectOption("naive");
  await page.waitForTimeout(400);
  await idle(page);
  assert.notEqual(await lead(), optimum);
}));

test("a plan stands beside that of the file order", () => visit(async (page) => {
  await example(page, "Random wiring");
  for (const name of ["file order", "naive"]) {
    await page.getByLabel("Compare with").selectOption(name);
    await page.locator("figcaption strong").getByText(name).waitFor();
    await idle(page);
    assert.deepEqual(await page.locator("figcaption strong").allTextContents(), [name, "plan"]);
    await shot(page, `beside-${name.replace(" ", "-")}`);
  }
}));

test("two branches share addresses", () => visit(async (page) => {
  await example(page, "Nested branches");
  const regions = page.locator(".regions button");
  assert((await regions.count()) >= 3);
  await page.locator(".regions").getByText("then").first().click();
  await page.locator(".regions").getByText("else").first().click();
  assert.match(await page.locator(".regions p").innerText(), /share [\d,]+ byte/);
  await shot(page, "regions");
  await accessible(page);
}));

test("timelines follow the sliders", () => visit(async (page) => {
  await example(page, "SqueezeNet");
  await page.getByText("Timelines of weight transfers").click();
  await page.getByText("The best is").waitFor();
  await page.locator(".timelines img").waitFor();
  await shot(page, "timelines");
  await accessible(page);
  const text = () => page.locator(".timelines table").innerText();
  const before = await text();
  await page.locator("#machine").selectOption("own");
  await page.locator("#bandwidth").fill("24");
  await until(async () => (await text()) !== before);
  await page.locator("#memory").fill("16");
  await page.getByText("None fits into 64 KiB").waitFor();
}));

test("exports are what the command writes", () => visit(async (page) => {
  await example(page, "Five buffers");
  const saved = async (button: string) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: button }).click()]);
    return readFileSync(await download.path());
  };
  const layout = (await saved("Layout (CSV)")).toString();
  assert.match(layout, /^id,lower,upper,size,offset\ninput,0,2,4,\d+\nconv,1,4,6,\d+\n/);
  assert.equal(JSON.parse((await saved("Certificate (JSON)")).toString()).claim, "optimal");
  assert.equal(JSON.parse((await saved("Report (JSON)")).toString()).peak, 11);
  assert.match((await saved("Picture (SVG)")).toString(), /^<svg/);
  assert.equal((await saved("Picture (PNG)")).subarray(1, 4).toString(), "PNG");
  if (PLIMSOLL_NATIVE) {
    const instance = given("five.csv", layout.replace(/,offset|,\d+$/gm, ""));
    assert.equal(spawnSync(PLIMSOLL_NATIVE, ["verify", instance, given("layout.csv", layout)]).status, 0);
  }
}));

test("a link carries a small instance", async () => {
  let hash = "";
  await visit(async (page) => {
    await example(page, "A wasteful layout");
    await page.getByRole("button", { name: "Link", exact: true }).click();
    await until(async () => String(await page.evaluate("location.hash")).length > 10);
    hash = await page.evaluate("location.hash");
  });
  await visit(async (page) => {
    await answered(page);
    assert.equal(await page.locator("figure").count(), 2);
  }, DESKTOP, "light", hash);
});

test("`view` writes pages with and without the solver", { skip: !PLIMSOLL_NATIVE }, async () => {
  const layout = given("own.csv", "id,lower,upper,size,offset\na,0,3,30,0\nb,2,5,20,30\nc,4,7,30,50\n");
  const view = (...args: string[]) => {
    const done = spawnSync(PLIMSOLL_NATIVE!, ["view", layout, ...args], { encoding: "utf8" });
    assert.equal(done.status, 0, done.stderr);
  };
  const [small, whole] = [join(scratch, "small.html"), join(scratch, "whole.html")];
  view("--output", small);
  await visit(async (page) => {
    await answered(page);
    assert.match(await page.locator(".lead").innerText(), /The peak is 50 bytes/);
    assert.equal(await page.locator("figure").count(), 2);
    assert.equal(await page.locator("#file, #solver").count(), 0);
    await accessible(page);
  }, DESKTOP, "light", "", small);
  view("--output", whole, "--page", PLIMSOLL_PAGE!);
  await visit(async (page) => {
    await answered(page);
    await page.getByLabel("Algorithm").selectOption("naive");
    await page.getByText("The peak is 80 bytes").waitFor();
  }, DESKTOP, "light", "", whole);
});

test("pasted and dropped files are opened", () => visit(async (page) => {
  await page.getByText("Paste text").click();
  await page.locator("#paste").fill("id,lower,upper,size\nx,0,2,7\ny,1,3,5\n");
  await page.getByRole("button", { name: "Open the text" }).click();
  await answered(page);
  assert.match(await page.locator(".lead").innerText(), /The peak is 12 bytes/);
  await page.evaluate(`(() => {
    const data = new DataTransfer();
    data.items.add(new File(["id,lower,upper,size\\nz,0,2,9\\n"], "dropped.csv"));
    window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  })()`);
  await page.getByText("The peak is 9 bytes").waitFor();
}));

test("a broken file is reported with its place", () => visit(async (page) => {
  await page.setInputFiles("#file", given("broken.csv", "id,lower,upper,size\nx,0,2,many\n"));
  assert.match(await page.locator("[role=alert]").innerText(), /line 2.*many/);
  await page.setInputFiles("#file", given("nothing.txt", "hello"));
  await page.getByText("is neither a model").waitFor();
  await example(page, "Five buffers");
  assert.equal(await page.locator("[role=alert]").count(), 0);
}));

test("a search is cancelled within 100 ms", () => visit(async (page) => {
  await page.setInputFiles("#file", given("hard.csv", random(1000)));
  await page.getByText(/best \d.* bytes/).waitFor({ timeout: 30_000 });
  const took = await page.evaluate(`(() => {
    const start = performance.now();
    [...document.querySelectorAll("button")].find((button) => button.textContent === "Cancel").click();
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
      done(document.querySelector(".busy") ? Infinity : performance.now() - start))));
  })()`);
  assert(Number(took) < 100, `${took} ms`);
  await example(page, "Five buffers");
}));

const corpus = (folder: string, suffix: string) => {
  if (!PLIMSOLL_CORPORA) return [];
  const all = readdirSync(join(PLIMSOLL_CORPORA, folder)).filter((name) => name.endsWith(suffix));
  return all.map((name) => join(PLIMSOLL_CORPORA!, folder, name));
};

test("free dimensions become a form", { skip: !PLIMSOLL_CORPORA }, () => visit(async (page) => {
  await page.setInputFiles("#file", join(PLIMSOLL_CORPORA!, "onnx", "silero_vad.onnx"));
  await page.getByRole("heading", { name: "Free dimensions" }).waitFor();
  await page.getByRole("button", { name: "Plan with these values" }).click();
  await answered(page);
}));

for (const path of [...corpus("minimalloc", ".csv"), ...corpus("tflite", ".tflite"), ...corpus("onnx", ".onnx")]) {
  test(`${basename(path)} is answered`, () => visit(async (page) => {
    await page.setInputFiles("#file", path);
    await page.locator(".answer, .shapes").first().waitFor({ timeout: 60_000 });
    if ((await page.locator(".shapes").count()) > 0) await page.getByRole("button", { name: "Plan with these values" }).click();
    await answered(page);
    await idle(page);
    assert.match(await page.locator(".lead").innerText(), /The peak is/);
  }));
}

test("100,000 rectangles are drawn and moved smoothly", () => visit(async (page) => {
  const rows = Array.from({ length: 100_000 }, (_, at) => `b${at},${at},${at + 2 + (at % 7)},${64 + (at % 13)}`);
  await page.getByLabel("Algorithm").count();
  await page.setInputFiles("#file", given("large.csv", `id,lower,upper,size\n${rows.join("\n")}\n`));
  await answered(page);
  await idle(page);
  const longest = await page.evaluate(`(async () => {
    const canvas = document.querySelector("canvas");
    const box = canvas.getBoundingClientRect();
    const move = (type, x) => canvas.dispatchEvent(new PointerEvent(type, { pointerId: 1, clientX: x, clientY: box.top + 300, bubbles: true }));
    canvas.setPointerCapture = () => {};
    move("pointerdown", box.left + 600);
    const times = [];
    for (let at = 0; at < 40; at++) {
      const start = performance.now();
      move("pointermove", box.left + 600 - 5 * at);
      await new Promise(requestAnimationFrame);
      await new Promise(requestAnimationFrame);
      times.push((performance.now() - start) / 2);
    }
    return times.sort((a, b) => a - b)[35];
  })()`);
  console.log(`100,000 rectangles: ${Number(longest).toFixed(1)} ms a frame (90th percentile)`);
  assert(Number(longest) < 50, `${longest} ms`);
}));

test("a document with several memories", { skip: !PLIMSOLL_CORPORA }, () => visit(async (page) => {
  const path = corpus("dsa", ".json").find((name) => name.includes("KernelQkMatmul"))!;
  await file(page, path);
  assert.equal(await page.locator(".memories button").count(), 4);
  await page.locator(".memories button").nth(1).click();
  await idle(page);
  assert.match(await page.locator(".lead").innerText(), /The peak is/);
}));
