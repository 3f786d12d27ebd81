/** Thread that clusters vectors, so that the event loop stays free. */
import { parentPort, workerData } from "node:worker_threads";

import { clusterVectors, type ClusterOptions } from "./cluster-vectors.ts";
import type { Matrix } from "./vectors.ts";

const { points, options } = workerData as { points: Matrix; options: ClusterOptions };
parentPort!.postMessage(clusterVectors(points, options));
