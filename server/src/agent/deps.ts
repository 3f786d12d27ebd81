import type { Sql } from "../base/db/connect.ts";
import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import type { HostPool } from "./hosts/host-pool.ts";
import type { Project } from "./project/read-project.ts";
import type { RunFollower } from "./runs/run-follower.ts";
import type { RunQueue } from "./runs/run-queue.ts";
import type { RunStreams } from "./runs/run-streams.ts";
import type { AgentSettings } from "./settings.ts";

/** What the agent server's slices are made of; built once in `app.ts`. */
export interface AgentDeps {
  sql: Sql;
  log: Log;
  settings: AgentSettings;
  /** Where spilled stream frames and the like may be written. */
  dataDir: string;
  serverId: string;
  project: Project;
  hosts: HostPool;
  queue: RunQueue;
  streams: RunStreams;
  follower: RunFollower;
  metrics: Metrics;
}
