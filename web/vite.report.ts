// Builds the code and the style that draw layouts in the report page, as one fragment of HTML.

import { defineConfig, type Plugin } from "vite";
import { inlined } from "./vite.config.ts";

const target = process.env.CARGO_TARGET_DIR ?? new URL("../target", import.meta.url).pathname;

function fragment(): Plugin {
  return {
    name: "fragment",
    enforce: "post",
    generateBundle(_, bundle) {
      const { code, style } = inlined(bundle);
      const source = `<style>${style}</style>\n<script type="module">${code}</script>\n`;
      this.emitFile({ type: "asset", fileName: "map.html", source });
    },
  };
}

export default defineConfig({
  plugins: [fragment()],
  build: {
    outDir: `${target}/page/report`,
    emptyOutDir: true,
    modulePreload: false,
    target: "es2023",
    cssCodeSplit: false,
    rollupOptions: { input: "src/report.tsx" },
  },
});
