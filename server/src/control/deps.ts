import type { Metrics } from "../base/metrics.ts";
import type { ServerHealth } from "../base/server-health.ts";
import type { Telemetry } from "../base/telemetry/telemetry.ts";
import type { PushTokens } from "./registry/push-token.ts";
import type { PushWatcher } from "./pushes/push-watcher.ts";
import type { Worker } from "./revisions/worker.ts";
import type { WorkDeps } from "./revisions/work-deps.ts";
import type { UploadSigner } from "./uploads/sign-upload.ts";

/** Dependencies of the control plane's slices; built once. */
export interface ControlDeps extends WorkDeps {
  metrics: Metrics;
  telemetry: Telemetry | undefined;
  health: ServerHealth;
  /** URL of this server as it listens. */
  internalUrl: string;
  uploads: UploadSigner;
  pushTokens: PushTokens;
  worker: Worker;
  pushes: PushWatcher;
}
