// Compiles the tests to JavaScript, because not all supported versions of Node run TypeScript. The compiled
// tests are written below `node_modules`, so that Node finds their packages.

import { readdirSync } from "node:fs";
import { defineConfig } from "vite";

const tests = readdirSync(new URL("test", import.meta.url)).filter((name) => name.endsWith(".test.ts") || name === "speed.ts");

export default defineConfig({
  build: {
    ssr: true,
    outDir: "node_modules/.cache/test",
    emptyOutDir: true,
    minify: false,
    rollupOptions: {
      input: tests.map((name) => `test/${name}`),
      output: { entryFileNames: "[name].mjs", chunkFileNames: "[name].mjs" },
    },
  },
});
