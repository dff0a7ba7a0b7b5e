// Bundles the tests for Node, which does not read TypeScript in all supported versions.

import { readdirSync } from "node:fs";
import { defineConfig } from "vite";

const target = process.env.CARGO_TARGET_DIR ?? new URL("../target", import.meta.url).pathname;
const tests = readdirSync(new URL("test", import.meta.url)).filter((name) => name.endsWith(".test.ts"));

export default defineConfig({
  ssr: { noExternal: true },
  build: {
    ssr: true,
    outDir: `${target}/page-test`,
    emptyOutDir: true,
    minify: false,
    rollupOptions: { input: tests.map((name) => `test/${name}`), output: { entryFileNames: "[name].mjs" } },
  },
});
