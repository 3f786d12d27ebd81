import type { TraceDestination } from "../../../host-kit/src/host-protocol.ts";
import type { Sql } from "../base/db/connect.ts";
import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import type { ServerHealth } from "../base/server-health.ts";
import type { Telemetry } from "../base/telemetry/telemetry.ts";
import type { Outbound } from "../base/outbound/outbound.ts";
import type { WaitPoller } from "./waits/wait-poller.ts";
import type { CronScheduler } from "./crons/cron-scheduler.ts";
import type { CustomApp } from "./custom-app/load-custom-app.ts";
import type { Access } from "./custom-auth/access.ts";
import type { GraphHosts } from "./hosts/graph-hosts.ts";
import type { Project } from "./project/read-project.ts";
import type { PythonCode } from "./python-code/python-code.ts";
import type { ThreadFeeds } from "./protocol/thread-feeds.ts";
import type { RunFollower } from "./streams/run-follower.ts";
import type { RunQueue } from "./runs/run-queue.ts";
import type { RunStreams } from "./streams/run-streams.ts";
import type { MetricHistory } from "./metric-history/metric-history.ts";
import type { ThreadWatch } from "./thread-stream/thread-watch.ts";
import type { AgentSettings } from "./settings.ts";
import type { StoreRules } from "./store/store-rules.ts";
import type { RunWebhooks } from "./webhooks/run-webhooks.ts";
import type { OwnCodeApi } from "./project/own-code-api.ts";
import type { UiBundles } from "./ui/ui-bundles.ts";

/** Dependencies of the agent server's slices, built once by `startAgentServer`. */
export interface AgentDeps {
  sql: Sql;
  log: Log;
  settings: AgentSettings;
  /** Directory for spilled stream frames and other local files. */
  dataDir: string;
  serverId: string;
  project: Project;
  hosts: GraphHosts;
  queue: RunQueue;
  streams: RunStreams;
  follower: RunFollower;
  threadWatch: ThreadWatch;
  protocol: ThreadFeeds;
  metrics: Metrics;
  telemetry: Telemetry | undefined;
  health: ServerHealth;
  /** Access rules of the project's own auth handlers. */
  access: Access;
  ui: UiBundles;
  /** The project's own Python code outside graphs. */
  python: PythonCode;
  /** The project's own HTTP app in JavaScript. */
  customApp: CustomApp | null;
  /** Client for all outbound calls. */
  outbound: Outbound;
  webhooks: RunWebhooks;
  /** Sender of this server's metrics. */
  history: MetricHistory;
  crons: CronScheduler;
  waits: WaitPoller;
  /** This server's own HTTP application, for in-process calls without a network; set by `createAgentApp`. */
  loopback: {
    ready: boolean;
    answer: (request: Request) => Promise<Response>;
    /** Answers project code in this process, which needs no key. */
    answerOwnCode: (request: Request) => Promise<Response>;
  };
  /** Access of the project's Python code to this server's API. */
  ownCodeApi: OwnCodeApi;
  /** The `store` section of langgraph.json. */
  store: StoreRules;
  /** The current destination of run traces. */
  traces: () => TraceDestination;
}
