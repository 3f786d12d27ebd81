import { fileURLToPath } from "node:url";

import { findPackages, packagesProblem } from "../../base/langgraph-version.ts";
import { fileOfGraph } from "../../base/graph-language.ts";
import { type HostLanguage, lifespanOf } from "./host-language.ts";

// both sides are TypeScript in a checkout, and compiled in the published package
const SELF = fileURLToPath(import.meta.url);
const ENTRY = fileURLToPath(
  new URL(`../../../../graph-host/src/main${SELF.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url),
);
const TSX = import.meta.resolve("tsx");
const PRELOAD = new URL("../../../../graph-host/preload.mjs", import.meta.url).href;

export const javascriptHosts: HostLanguage = {
  name: "javascript",
  async prepare(project) {
    const { dir, graphs } = project;
    const lifespan = lifespanOf(project, "javascript");
    const files = Object.values(graphs).map(({ path }) => fileOfGraph(path));
    const packages = findPackages(dir, files);
    const problem = packagesProblem(packages);
    if (problem !== undefined) return { problem };
    return {
      launch: {
        command: process.execPath,
        args: (memoryMb) => [
          "--experimental-import-meta-resolve",
          ...["--import", PRELOAD, "--import", TSX],
          "--enable-source-maps",
          // module.register(): its successor is not in all versions of Node that are supported
          "--disable-warning=DEP0205",
          `--max-old-space-size=${memoryMb}`,
          // short-lived objects of concurrent runs: fewer, not longer, collections; saves a tenth of a run's time
          "--min-semi-space-size=8",
          "--max-semi-space-size=32",
          ENTRY,
        ],
        usesDatabase: true,
        environment: {},
        project: { dir, from: packages.from, graphs, lifespan },
        hasLifespan: lifespan.length > 0,
        // V8 can only end all code that is waiting in the microtask queue with the code that blocks
        canInterrupt: false,
        blockHint: "Await an asynchronous call, or use a worker thread.",
        // off-heap memory (buffers, wasm) does not count against V8's limit
        mostMemoryMb: (memoryMb) => memoryMb * 1.25 + 256,
      },
    };
  },
};
