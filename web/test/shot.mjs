import { chromium } from "playwright-core";
const [,, url, out, width, height, scheme, ...acts] = process.argv;
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox","--disable-gpu","--disable-background-networking"] });
const page = await browser.newPage({ viewport: { width: +width, height: +height }, colorScheme: scheme });
page.on("console", (m) => console.log("console", m.type(), m.text()));
page.on("pageerror", (e) => console.log("pageerror", e.message));
page.on("request", (r) => console.log("request", r.url().slice(0, 80)));
await page.goto(url);
for (const act of acts) {
  const [kind, rest] = act.split(/:(.*)/s);
  if (kind === "click") await page.getByText(rest).first().click();
  if (kind === "file") await page.setInputFiles("#file", rest);
  if (kind === "wait") await page.waitForTimeout(+rest);
  if (kind === "for") await page.getByText(rest).first().waitFor({ timeout: 60000 });
}
await page.screenshot({ path: out, fullPage: acts.includes("full") });
await browser.close();
