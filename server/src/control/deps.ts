import type { Metrics } from "../base/metrics.ts";
import type { Worker } from "./revisions/worker.ts";
import type { WorkDeps } from "./revisions/work-deps.ts";
import type { UploadSigner } from "./uploads/sign-upload.ts";

/** What the control plane's slices are made of; built once. */
export interface ControlDeps extends WorkDeps {
  metrics: Metrics;
  /** Of this server as it listens. */
  internalUrl: string;
  uploads: UploadSigner;
  worker: Worker;
}
