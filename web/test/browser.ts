// Opens pages in Chromium, for the tests of all pages.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium, type Browser, type Page } from "playwright-core";

const { PLIMSOLL_SHOTS, PLIMSOLL_AXE } = process.env;
assert(PLIMSOLL_AXE, "set PLIMSOLL_AXE, or use `make test-web`");
const axe = readFileSync(PLIMSOLL_AXE, "utf8");
const executablePath = ["chromium", "chromium-browser", "google-chrome"].map((name) => `/usr/bin/${name}`).find(existsSync);

let browser: Browser;
before(async () => {
  const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"];
  browser = await chromium.launch({ executablePath, args });
});
after(() => browser.close());

export interface Size {
  width: number;
  height: number;
}

export const DESKTOP: Size = { width: 1280, height: 900 };
export const PHONE: Size = { width: 390, height: 844 };

export interface Options {
  size?: Size;
  colorScheme?: "light" | "dark";
  hash?: string;
  /** Code that runs before that of the page. */
  script?: string;
  /** Whether the page runs its scripts. */
  javaScriptEnabled?: boolean;
}

/** Opens a page. Fails on messages in the console, and on requests except for the page and its worker. */
export async function open(path: string, work: (page: Page) => Promise<void>, options: Options = {}): Promise<void> {
  const { size = DESKTOP, colorScheme = "light", hash = "", script = "", javaScriptEnabled = true } = options;
  const context = await browser.newContext({ viewport: size, colorScheme, javaScriptEnabled, acceptDownloads: true });
  const page = await context.newPage();
  if (script) await page.addInitScript(script);
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

export async function shot(page: Page, name: string): Promise<void> {
  if (!PLIMSOLL_SHOTS) return;
  mkdirSync(PLIMSOLL_SHOTS, { recursive: true });
  await page.waitForTimeout(200);
  await page.screenshot({ path: join(PLIMSOLL_SHOTS, `${name}.png`) });
}

export async function accessible(page: Page): Promise<void> {
  // The policy of the page forbids further scripts, so the check runs through the debugger.
  const found = await page.evaluate(`(async () => { ${axe}; return (await axe.run()).violations
    .filter((one) => ["serious", "critical"].includes(one.impact))
    .map((one) => one.id + ": " + one.nodes.map((node) => node.target.join(" ")).join(", ")); })()`);
  assert.deepEqual(found, []);
}
