import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";

import type { ClusterOptions, Tree } from "./cluster-vectors.ts";
import type { Matrix } from "./vectors.ts";

/** Clusters vectors in a worker thread. The vectors are moved there. @throws the signal's reason when aborted */
export function clusterInThread(points: Matrix, options: ClusterOptions, signal: AbortSignal): Promise<Tree> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const worker = startWorker({
      workerData: { points, options },
      transferList: [points.data.buffer as ArrayBuffer],
      // not the options of this process, which may name its own loaders
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    const abort = () => {
      void worker.terminate();
      reject(signal.reason as Error);
    };
    signal.addEventListener("abort", abort, { once: true });
    worker.once("message", (tree: Tree) => resolve(tree));
    worker.once("error", reject);
    worker.once("exit", (code) => {
      signal.removeEventListener("abort", abort);
      if (code !== 0) reject(new Error(`the thread that clusters ended with code ${code}`));
    });
  });
}

/** Starts the thread; from sources with the loader of TypeScript, which threads do not inherit. */
function startWorker(options: ConstructorParameters<typeof Worker>[1]): Worker {
  if (!import.meta.url.endsWith(".ts")) return new Worker(new URL("./cluster-worker.js", import.meta.url), options);
  const loader = createRequire(import.meta.url)
    .resolve("tsx/esm/api")
    .replace(/cjs$/, "mjs");
  const source = new URL("./cluster-worker.ts", import.meta.url).href;
  const code = `import(${JSON.stringify(loader)}).then(({ register }) => { register(); return import(${JSON.stringify(source)}); })`;
  return new Worker(code, { ...options, eval: true });
}
