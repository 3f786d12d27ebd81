import type { Metrics } from "../base/metrics.ts";
import type { ServerHealth } from "../base/server-health.ts";
import type { PushTokens } from "./registry/push-token.ts";
import type { PushWatcher } from "./pushes/push-watcher.ts";
import type { Worker } from "./revisions/worker.ts";
import type { WorkDeps } from "./revisions/work-deps.ts";
import type { UploadSigner } from "./uploads/sign-upload.ts";

/** What the control plane's slices are made of; built once. */
export interface ControlDeps extends WorkDeps {
  metrics: Metrics;
  health: ServerHealth;
  /** Of this server as it listens. */
  internalUrl: string;
  uploads: UploadSigner;
  pushTokens: PushTokens;
  worker: Worker;
  pushes: PushWatcher;
}
