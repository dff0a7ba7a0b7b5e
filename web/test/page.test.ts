// Tests the built page in Chromium.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { DESKTOP, PHONE, accessible, open, shot, type Options } from "./browser.ts";
import { indexed } from "./indexed.ts";
import { draws, mutated } from "./mutate.ts";
import { generated } from "./native.ts";

const { PLIMSOLL_PAGE, PLIMSOLL_NATIVE, PLIMSOLL_CORPORA, PLIMSOLL_SCREENS } = process.env;
assert(PLIMSOLL_PAGE, "set PLIMSOLL_PAGE, or use `make test-web`");
const scratch = mkdtempSync(join(tmpdir(), "plimsoll-page-"));

/** Opens the page, waits for its first example unless it opens a link, and marks the answer to that as old. */
const visit = (work: (page: Page) => Promise<void>, options: Options = {}) => open(PLIMSOLL_PAGE!, async (page) => {
  if (!options.hash) {
    await answered(page);
    await idle(page);
    await page.evaluate("document.querySelector('.answer').classList.add('old')");
  }
  await work(page);
}, options);
const NEW = ".answer:not(.old)";
const answered = (page: Page) => page.locator(NEW).waitFor({ timeout: 60_000 });
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

/** Waits for a condition outside the page, because its policy forbids waiting inside. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await holds()) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  assert.fail("the condition never held");
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
    }, { size, colorScheme: scheme }));
  }
}

test("the page opens with a picture", () => open(PLIMSOLL_PAGE!, async (page) => {
  await answered(page);
  const took = Number(await page.evaluate("performance.now()"));
  console.log(`the first answer is shown after ${took.toFixed(0)} ms`);
  assert.match(await page.locator(".lead").innerText(), /The peak is \d+ bytes/);
  const box = (await page.locator("canvas").first().boundingBox())!;
  assert(box.y + 100 < DESKTOP.height, `the map starts at ${box.y}`);
  await shot(page, "first");
}));

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
  assert.equal(await page.locator("#table-title").innerText(), "1 buffer found");
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
  for (const [text, shown, fits] of [["256KiB", "262144", "262,144 bytes"], ["1.5 kB", "1500", "1,500 bytes"]]) {
    await page.locator("#capacity").fill(text);
    await page.locator("#capacity").press("Enter");
    await page.getByText(`It fits into ${fits}`).waitFor();
    assert.equal(await page.locator("#capacity").inputValue(), shown);
  }
  await page.locator("#capacity").fill("64kb");
  await page.locator("#capacity").blur();
  assert.match(await page.locator("[role=alert]").innerText(), /'64kb'.*write 64KiB for a power of 1024/);
  assert.equal(await page.locator("#capacity").inputValue(), "64kb");
  await page.locator("#capacity").fill("");
  await page.locator("#capacity").blur();
  await page.getByText("Capacity (none)").waitFor();
  assert.equal(await page.locator("[role=alert]").count(), 0);
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

test("branches and trips of a run are chosen", () => visit(async (page) => {
  const run = page.locator(".regions p").last();
  const live = async () => {
    const [, live, all] = /(\d+) buffers of (\d+) are live/.exec(await run.innerText())!;
    return Number(all) - Number(live);
  };
  await example(page, "Loops");
  await page.getByLabel(/^Trips of/).first().selectOption("1 trip or more");
  assert.equal(await live(), 0);
  await page.getByLabel(/^Trips of/).first().selectOption("no trip");
  assert((await live()) > 0);
  await shot(page, "trips");
  await example(page, "Nested branches");
  const branch = page.getByLabel(/^Branch of/).first();
  await branch.selectOption({ index: 1 });
  const first = await run.innerText();
  await branch.selectOption({ index: 2 });
  assert.notEqual(await run.innerText(), first);
  await accessible(page);
  await branch.selectOption("any");
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
  }, { hash });
});

test("`view` writes pages with and without the solver", { skip: !PLIMSOLL_NATIVE }, async () => {
  const layout = given("own.csv", "id,lower,upper,size,offset\na,0,3,30,0\nb,2,5,20,30\nc,4,7,30,50\n");
  const view = (...args: string[]) => {
    const done = spawnSync(PLIMSOLL_NATIVE!, ["view", layout, ...args], { encoding: "utf8" });
    assert.equal(done.status, 0, done.stderr);
  };
  const [small, whole] = [join(scratch, "small.html"), join(scratch, "whole.html")];
  view("--output", small);
  await open(small, async (page) => {
    await answered(page);
    assert.match(await page.locator(".lead").innerText(), /The peak is 50 bytes/);
    assert.equal(await page.locator("figure").count(), 2);
    assert.equal(await page.locator("#file, #solver").count(), 0);
    await accessible(page);
  });
  view("--output", whole, "--page", PLIMSOLL_PAGE!);
  await open(whole, async (page) => {
    await answered(page);
    await page.getByLabel("Algorithm").selectOption("naive");
    await page.getByText("The peak is 80 bytes").waitFor();
  });
});

interface Listed {
  tensors: { region: string; tensor: string; bytes: number; offset: number; lower: number; upper: number; shares: string; operator: number | null }[];
  operators: { region: string; step: number; operator: string }[];
}

/** Returns the rows of the table that the answer of the command implies, by the names of the buffers. */
function implied(html: string): Map<string, string[]> {
  const { answer } = JSON.parse(/id="data">(\{.*?)<\/script>/s.exec(html)![1]) as { answer: { files: Record<string, string> } };
  const { tensors, operators } = JSON.parse(Buffer.from(answer.files["tensors.json"], "base64").toString()) as Listed;
  const row = ({ region, tensor, bytes, offset, lower, upper, operator }: Listed["tensors"][number]) => {
    const writer = operators.find((one) => one.region === region && one.step === operator);
    const number = (value: number) => value.toLocaleString("en-US");
    return [tensor, number(bytes), number(offset), `${number(lower)}–${number(upper)}`, writer?.operator ?? ""];
  };
  return new Map(tensors.filter(({ shares }) => shares === "").map((one) => [one.tensor, row(one)]));
}

/** Returns the rows of the table with full names and without the column of shares. */
const shown = (page: Page) => page.evaluate(`[...document.querySelectorAll(".rows tbody tr")].map((row) => {
  const [size, , offset, steps, writer] = row.querySelectorAll("td");
  return [row.querySelector("button").title, size.textContent, offset.textContent, steps.textContent, writer.title];
})`) as Promise<string[][]>;

for (const family of ["nasnet-a", "randwire-ws", "inception", "shared-if", "control-mix"]) {
  test(`the rows of ${family} are those of the command`, { skip: !PLIMSOLL_NATIVE }, async () => {
    const [graph, path] = [join(scratch, `${family}.json`), join(scratch, `${family}.html`)];
    const run = (...args: string[]) => assert.equal(spawnSync(PLIMSOLL_NATIVE!, args).status, 0, args[0]);
    run("generate", family, "--seed", "1", "--out", graph);
    run("view", graph, "--output", path, "--page", PLIMSOLL_PAGE!, "--", "--time-limit", "1");
    const expected = implied(readFileSync(path, "utf8"));
    await open(path, async (page) => {
      await answered(page);
      const peak = await shown(page);
      assert(peak.length > 0);
      for (const row of peak) assert.deepEqual(row, expected.get(row[0]));
      await shot(page, `rows-${family}`);
      for (const operator of new Set(peak.map((row) => row[4]).filter((name) => name !== ""))) {
        await page.getByRole("searchbox").fill(operator);
        const found = [...expected.values()].filter(([id, , , , writer]) => `${id}\n${writer}`.toLowerCase().includes(operator.toLowerCase()));
        assert.deepEqual((await shown(page)).sort(), found.sort());
      }
    });
  });
}

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

test("a broken file is reported with the line of the error", () => visit(async (page) => {
  await page.setInputFiles("#file", given("broken.csv", "id,lower,upper,size\nx,0,2,many\n"));
  assert.match(await page.locator("[role=alert]").innerText(), /line 2.*many/);
  await page.setInputFiles("#file", given("nothing.txt", "hello"));
  await page.getByText("is neither a model").waitFor();
  await example(page, "Five buffers");
  assert.equal(await page.locator("[role=alert]").count(), 0);
}));

test("a search is cancelled within 100 ms", () => visit(async (page) => {
  // The search takes longer than 10 s on this instance.
  await page.setInputFiles("#file", given("hard.csv", String(generated("minimalloc-like", "csv", 4))));
  await page.getByText(/best \d.* bytes/).waitFor({ timeout: 30_000 });
  const took = await page.evaluate(`(() => {
    const start = performance.now();
    [...document.querySelectorAll("button")].find((button) => button.textContent === "Cancel").click();
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
      done(document.querySelector(".busy") ? Infinity : performance.now() - start))));
  })()`);
  console.log(`cancelled after ${Number(took).toFixed(0)} ms`);
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
    await page.locator(`${NEW}, .shapes`).first().waitFor({ timeout: 60_000 });
    if ((await page.locator(".shapes").count()) > 0) await page.getByRole("button", { name: "Plan with these values" }).click();
    await answered(page);
    await idle(page);
    assert.match(await page.locator(".lead").innerText(), /The peak is [\d,]+ byte[^]* (made of|live at once, at .*:) .+ \([\d,]+ bytes?, .* %\)/);
    const isModel = !path.endsWith(".csv");
    if (isModel) assert.match(await page.locator(".answer").innerText(), /No order of the operators needs less than [\d,]+ byte/);
  }));
}

for (const [name, optimum] of [["D", "986,112"], ["J", "989,184"]]) {
  test(`instance ${name} is solved to optimality`, { skip: !PLIMSOLL_CORPORA, timeout: 400_000 }, () => visit(async (page) => {
    await page.setInputFiles("#file", join(PLIMSOLL_CORPORA!, "minimalloc", `${name}.1048576.csv`));
    await page.locator(".busy").waitFor();
    await page.getByLabel("Seconds").selectOption("300");
    await page.waitForTimeout(400);
    const start = performance.now();
    await page.locator(".busy").waitFor({ state: "detached", timeout: 320_000 });
    console.log(`${name} is solved after ${((performance.now() - start) / 1000).toFixed(1)} s`);
    assert.equal(await page.locator("figcaption strong").innerText(), "optimum");
    assert.match(await page.locator(".lead").innerText(), new RegExp(`The peak is ${optimum} bytes`));
  }));
}

/** Drops a file on the page. */
const DROP = `([name, data]) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))], name));
  dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
}`;

test("a dropped model is explained within a minute", { skip: !PLIMSOLL_CORPORA }, () => visit(async (page) => {
  const name = "person_detect.tflite";
  const data = readFileSync(join(PLIMSOLL_CORPORA!, "tflite", name)).toString("base64");
  const start = performance.now();
  await page.evaluate(`(${DROP})(${JSON.stringify([name, data])})`);
  await answered(page);
  await idle(page);
  const took = performance.now() - start;
  console.log(`a dropped model is explained after ${(took / 1000).toFixed(1)} s`);
  assert(took < 60_000, `${took} ms`);
  const text = await page.locator(".answer").innerText();
  assert.match(text, /The peak is [\d,]+ bytes.* At step \d+, while .+ runs, it is made of .+ \([\d,]+ bytes, .+ %\)/);
  assert.match(text, /No order of the operators needs less than [\d,]+ bytes/);
  await shot(page, "dropped");
}));

/** Reports when the engine answered, and when the first picture of a map was drawn after that. */
const WATCH = `(() => {
  const own = window.Worker;
  window.Worker = class extends own {
    constructor(...all) {
      super(...all);
      this.addEventListener("message", ({ data }) => {
        if (data.kind === "answer" && "layout.csv" in data.answer.files) window.answeredAt = performance.now();
      });
    }
  };
  const draw = CanvasRenderingContext2D.prototype.putImageData;
  CanvasRenderingContext2D.prototype.putImageData = function (...all) {
    draw.apply(this, all);
    window.drawnAt ??= performance.now();
    window.pictures = (window.pictures ?? 0) + 1;
  };
})()`;

/** Drags the map by 5 pixels in every frame. Returns the median and the 90th percentile of the lengths of frames. */
const DRAG = `(async () => {
  const canvas = document.querySelector("canvas");
  const box = canvas.getBoundingClientRect();
  const move = (type, x, y) => canvas.dispatchEvent(new PointerEvent(type, { pointerId: 1, clientX: x, clientY: y, bubbles: true }));
  canvas.setPointerCapture = () => {};
  move("pointerdown", box.left + 600, box.top + 300);
  const frames = [];
  const before = window.pictures;
  let last = await new Promise(requestAnimationFrame);
  for (let at = 0; at < 240; at++) {
    const across = at % 40 < 20 ? at % 40 : 40 - (at % 40);
    // Events of a mouse arrive between two frames.
    await new Promise((done) => setTimeout(done));
    move("pointermove", box.left + 600 - 5 * across, box.top + 300 + 3 * across);
    const frame = await new Promise(requestAnimationFrame);
    frames.push(frame - last);
    last = frame;
  }
  move("pointerup", box.left + 600, box.top + 300);
  frames.sort((a, b) => a - b);
  return { middle: frames[120], high: frames[216], pictures: window.pictures - before };
})()`;

test("100,000 rectangles are drawn and moved smoothly", async () => {
  const rows = Array.from({ length: 100_000 }, (_, at) => `b${at},${at},${at + 2 + (at % 7)},${64 + (at % 13)}`);
  const path = given("large.csv", `id,lower,upper,size\n${rows.join("\n")}\n`);
  await visit(async (page) => {
    const session = await page.context().newCDPSession(page);
    // Processor time is measured, so that other programs on the machine do not count.
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    /** Returns how long the page has been busy, in milliseconds. */
    const busy = async () => {
      const { metrics } = await session.send("Performance.getMetrics");
      return 1000 * metrics.find(({ name }) => name === "TaskDuration")!.value;
    };
    const start = await busy();
    await page.evaluate("drawnAt = undefined");
    await page.setInputFiles("#file", path);
    await answered(page);
    await idle(page);
    const own = await busy() - start;
    const first = Number(await page.evaluate("drawnAt - answeredAt"));
    const text = `100,000 rectangles: first picture ${first.toFixed(0)} ms after the answer, with ${own.toFixed(0)} ms of work since it was opened`;
    console.log(text);
    const slow = own < 1500 ? [] : [text];
    for (const zoom of [0, 4, 8]) {
      for (let at = 0; at < (zoom > 0 ? 4 : 0); at++) await page.getByRole("button", { name: /^Zoom in/ }).click();
      await page.waitForTimeout(200);
      const before = await busy();
      const found = (await page.evaluate(DRAG)) as { middle: number; high: number; pictures: number };
      const work = (await busy() - before) / 240;
      const text = `zoom ${zoom}: frames take ${found.middle.toFixed(1)} ms, 90 % at most ${found.high.toFixed(1)} ms, with ${work.toFixed(1)} ms of work`;
      console.log(text);
      assert(found.pictures >= 400, `${found.pictures} pictures`);
      if (work > 10) slow.push(text);
    }
    assert.deepEqual(slow, []);
  }, { script: WATCH });
});

test("a document with several memories", { skip: !PLIMSOLL_CORPORA }, () => visit(async (page) => {
  const path = corpus("dsa", ".json").find((name) => name.includes("KernelQkMatmul"))!;
  await file(page, path);
  assert.equal(await page.locator(".memories button").count(), 4);
  await page.locator(".memories button").nth(1).click();
  await idle(page);
  assert.match(await page.locator(".lead").innerText(), /The peak is/);
}));

test("screenshots of the book", { skip: !PLIMSOLL_SCREENS }, async () => {
  mkdirSync(PLIMSOLL_SCREENS!, { recursive: true });
  const names: string[] = [];
  const screen = async (page: Page, name: string) => {
    names.push(join(PLIMSOLL_SCREENS!, `${name}.png`));
    await page.mouse.move(5, 5);
    await page.waitForTimeout(300);
    writeFileSync(names.at(-1)!, await indexed(page, await page.screenshot()));
  };
  await visit(async (page) => {
    await example(page, "SqueezeNet");
    await page.getByRole("button", { name: "Show the reason" }).click();
    await screen(page, "page-reason");
    await example(page, "Random wiring");
    await page.getByLabel("Compare with").selectOption("file order");
    await page.locator("figcaption strong").getByText("file order").waitFor();
    await idle(page);
    await screen(page, "page-orders");
  }, { size: { width: 1000, height: 850 } });
  const bytes = names.reduce((sum, name) => sum + statSync(name).size, 0);
  assert(bytes <= 150_000, `${bytes} bytes`);
});

/** Opens a dropped file, waits, and returns the outcome and the longest time for which the page was busy. */
const FEED = `async ([name, data]) => {
  const file = new File([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))], name);
  const transfer = new DataTransfer();
  transfer.items.add(file);
  let [isOpen, longest, last] = [true, 0, performance.now()];
  const beat = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (isOpen) setTimeout(beat, 5);
  };
  setTimeout(beat);
  const busy = () => document.querySelector(".busy");
  const message = () => document.querySelector("[role=alert]")?.textContent ?? "";
  let started = false;
  const observer = new MutationObserver(() => (started ||= busy() !== null));
  observer.observe(document.querySelector("main"), { childList: true, subtree: true });
  const start = performance.now();
  dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
  let isCancelled = false;
  while (!(started && !busy()) && !message().includes(name)) {
    if (performance.now() - start > 3000 && busy()) {
      isCancelled = true;
      [...document.querySelectorAll("button")].find((button) => button.textContent === "Cancel").click();
    }
    if (performance.now() - start > 20000) return { outcome: "no end", longest };
    await new Promise((done) => setTimeout(done, 5));
  }
  await new Promise(requestAnimationFrame);
  await new Promise((done) => setTimeout(done));
  isOpen = false;
  observer.disconnect();
  const outcome = isCancelled ? "cancelled" : message() ? "message" : document.querySelector(".shapes") ? "form"
    : document.querySelector(".answer") ? "answer" : "nothing";
  return { outcome, longest, text: message() };
}`;

const MUTANTS = 2000;

test(`${MUTANTS} mutated files never freeze the page`, { timeout: 1_800_000 }, () => visit(async (page) => {
  const small = (paths: string[]) => paths.filter((path) => statSync(path).size < 300_000);
  const files = small([...corpus("onnx", ".onnx"), ...corpus("tflite", ".tflite"), ...corpus("minimalloc", ".csv"), ...corpus("dsa", ".json")]);
  const originals = files.map((path): [string, Buffer] => [basename(path), readFileSync(path)]);
  originals.push(["five.csv", Buffer.from("id,lower,upper,size,offset\na,0,3,30,0\nb,2,5,20,30\nc,4,7,30,50\nd,6,9,20,80\n")]);
  for (const [preset, suffix] of PLIMSOLL_NATIVE ? [["nested-if", "json"], ["loops", "json"], ["randwire-ws", "json"], ["training", "csv"]] : []) {
    const path = join(scratch, `${preset}.${suffix}`);
    assert.equal(spawnSync(PLIMSOLL_NATIVE!, ["generate", preset, "--seed", "1", "--out", path]).status, 0);
    originals.push([basename(path), readFileSync(path)]);
  }
  const next = draws(26);
  const outcomes = new Map<string, number>();
  let longest = 0;
  for (let at = 0; at < MUTANTS; at++) {
    const [name, original] = originals[at % originals.length];
    const data = mutated(original, /\.(csv|json)$/.test(name), next);
    const own = `m${at}-${name}`;
    const found = (await page.evaluate(`(${FEED})(${JSON.stringify([own, data.toString("base64")])})`)) as { outcome: string; longest: number; text: string };
    const place = `mutant ${at} of ${name}: ${found.outcome}, ${found.longest.toFixed(0)} ms, ${found.text}`;
    if (!["answer", "message", "form", "cancelled"].includes(found.outcome) || found.longest > 1000) writeFileSync(join(tmpdir(), own), data);
    assert(["answer", "message", "form", "cancelled"].includes(found.outcome), place);
    assert(found.longest < 1000, place);
    if (/^The engine stopped/.test(found.text)) console.log(place);
    longest = Math.max(longest, found.longest);
    outcomes.set(found.outcome, (outcomes.get(found.outcome) ?? 0) + 1);
  }
  console.log(`${MUTANTS} mutated files:`, Object.fromEntries(outcomes), `busy for at most ${longest.toFixed(0)} ms`);
}));
