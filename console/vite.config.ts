import { tanstackRouter } from "@tanstack/router-plugin/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** `npx vite console` while working on it; HEDDLE_CONSOLE_URL names a running console, whose spaces it uses. */
const backend = process.env["HEDDLE_CONSOLE_URL"] ?? "http://127.0.0.1:3000";

export default defineConfig({
  plugins: [
    tanstackRouter({
      target: "react",
      autoCodeSplitting: true,
      routesDirectory: "src/routes",
      generatedRouteTree: "src/route-tree.gen.ts",
      routeFileIgnorePattern: "\\.test\\.",
    }),
    react(),
  ],
  build: {
    target: "es2023",
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      // what several pages use is one file: ninety small ones cost more in headers than in content
      output: { codeSplitting: { groups: [{ name: "shared", minShareCount: 6 }] } },
      treeshake: {
        // do nothing when they are loaded and do not say so; the SDK would bring all of langsmith along
        moduleSideEffects: (id) => !/node_modules\/(@langchain\/(core|langgraph-sdk)|langsmith)\//.test(id),
      },
    },
  },
  server: { proxy: { "/api": { target: backend, ws: true }, "/console.json": backend } },
});
