// Builds one HTML file that contains code, style and engine, so it works from disk without a server.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin, type Rollup } from "vite";

const target = process.env.CARGO_TARGET_DIR ?? new URL("../target", import.meta.url).pathname;
const engine = process.env.PLIMSOLL_ENGINE ?? `${target}/wasm32-wasip1/web/plimsoll.wasm`;

const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Allows the inline script and style, the engine and its worker, but no requests. */
function policy(code: string, style: string): string {
  return [
    "default-src 'none'",
    `script-src ${hash(code)} 'wasm-unsafe-eval'`,
    `style-src ${hash(style)}`,
    "worker-src blob:",
    "img-src blob: data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}

/** Returns a module without its custom sections, which contain the names of functions. */
function stripped(module: Uint8Array): Uint8Array {
  const kept = [module.subarray(0, 8)];
  for (let at = 8; at < module.length; ) {
    const start = at;
    const section = module[at++];
    // The length of a section is encoded in LEB128: seven bits per byte, lowest bits first.
    let length = 0;
    for (let shift = 0, more = true; more; shift += 7) {
      length += (module[at] & 127) * 2 ** shift;
      more = module[at++] > 127;
    }
    at += length;
    if (section !== 0) kept.push(module.subarray(start, at));
  }
  return Buffer.concat(kept);
}

/** Removes all files from a bundle, and returns their contents. */
export function inlined(bundle: Rollup.OutputBundle): { code: string; style: string; html: string } {
  const all = { code: "", style: "", html: "" };
  for (const [name, part] of Object.entries(bundle)) {
    if (part.type === "chunk") all.code = part.code.replaceAll("</script", "<\\/script").trim();
    else if (name.endsWith(".css")) all.style = String(part.source).trim();
    else if (name.endsWith(".html")) all.html = String(part.source);
    delete bundle[name];
  }
  return all;
}

/** Writes `page.html`, which shows answers, and `plimsoll.html`, which also contains the engine. */
function onePage(): Plugin {
  return {
    name: "one-page",
    enforce: "post",
    generateBundle(_, bundle) {
      const { code, style, html } = inlined(bundle);
      const page = html
        .replace(/\s*<(script|link)[^>]*(src|href)="[^"]*"[^>]*>(<\/script>)?/g, "")
        .replace("<!-- policy -->", `<meta http-equiv="Content-Security-Policy" content="${policy(code, style)}">`)
        .replace("<!-- style -->", () => `<style>${style}</style>`)
        .replace("<!-- code -->", () => `<script type="module">${code}</script>`);
      this.emitFile({ type: "asset", fileName: "page.html", source: page });
      if (existsSync(engine)) {
        const packed = gzipSync(stripped(readFileSync(engine)), { level: 9 }).toString("base64");
        const source = page.replace('id="engine">', () => `id="engine">${packed}`);
        this.emitFile({ type: "asset", fileName: "plimsoll.html", source });
      } else {
        this.warn(`no engine at ${engine}, so plimsoll.html is not written`);
      }
    },
  };
}

export default defineConfig({
  plugins: [onePage()],
  build: { outDir: `${target}/page`, emptyOutDir: true, modulePreload: false, target: "es2023", cssCodeSplit: false },
});
