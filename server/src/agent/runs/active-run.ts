import type { RunStart } from "../../../../graph-host/src/protocol.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { FaultPoint } from "../../base/fault-point.ts";
import type { Log } from "../../base/log.ts";
import type { HostPool, Suspicion } from "../hosts/host-pool.ts";
import type { AgentSettings } from "../settings.ts";
import type { ProtocolLog } from "../protocol/protocol-log.ts";
import type { RunFollower } from "./run-follower.ts";
import type { RunStreams } from "./run-streams.ts";
import type { StreamKeeper } from "./stream-keeper.ts";

/** A run that this server has claimed and not yet ended. */
export interface ActiveRun {
  runId: string;
  threadId: string;
  graphId: string | null;
  attempt: number;
  suspicion: Suspicion;
  start: RunStart;
  kwargs: string;
  timeout: NodeJS.Timeout | undefined;
  /** `performance.now()` of the claim. */
  claimedAt: number;
  /** `starting`: frames of earlier attempts are read first. `waiting`: for a host, or for a beat that confirms the lease. `ending`: its end is being written. */
  phase: "starting" | "waiting" | "executing" | "ending";
  /** No attempt of it has reached a host: it has written nothing. */
  untouched: boolean;
  /** It was to begin while the lease was not known to be good: it waits until a beat has seen its row. */
  unconfirmed: boolean;
  /** It was cancelled while it was starting. */
  cancelled?: boolean;
  /** Ends the host that does not stop the run. */
  patience?: NodeJS.Timeout;
}

/** Since the start of the server. */
export interface RunCounts {
  started: number;
  finished: number;
  released: number;
  lost: number;
}

export interface RunQueueOptions {
  sql: Sql;
  hosts: () => HostPool;
  /** Few connections with pinned plans, for the statements that every run goes through; none of them waits for a lock long. */
  hotSql: Sql;
  /** For claims, which must not wait for long on a connection whose other end is gone. */
  leaseSql: Sql;
  log: Log;
  settings: AgentSettings;
  serverId: string;
  streams: RunStreams;
  follower: RunFollower;
  keeper: StreamKeeper;
  protocol: ProtocolLog;
  fault: FaultPoint;
  /** True when no other server shares the database: nobody needs to be told of anything. */
  alone(): boolean;
  /** Told of every run that begins here. */
  onBegun(threadId: string): void;
  /** Told of every run that ended here. */
  onEnded(run: ActiveRun, outcome: string): void;
}
