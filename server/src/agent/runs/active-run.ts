import type { RunStart } from "../../../../graph-host/src/protocol.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { FaultPoint } from "../../base/fault-point.ts";
import type { Log } from "../../base/log.ts";
import type { HostPool, Suspicion } from "../hosts/host-pool.ts";
import type { AgentSettings } from "../settings.ts";
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
  /**
   * `starting`: reads the frames of earlier attempts. `waiting`: for a host, or for a heartbeat that confirms the
   * lease. `ending`: its end is being written.
   */
  phase: "starting" | "waiting" | "executing" | "ending";
  /** No attempt has reached a host, so it has written nothing. */
  untouched: boolean;
  /** Started while the lease was in doubt: it waits until a heartbeat has seen its row. */
  unconfirmed: boolean;
  /** Cancelled while it was starting. */
  cancelled?: boolean;
  /** Timer that kills the host when it does not stop the run. */
  patience?: NodeJS.Timeout;
}

/** Counters since the start of the server. */
export interface RunCounts {
  started: number;
  finished: number;
  released: number;
  lost: number;
}

/** Receives the protocol events of runs (`protocol/protocol-log.ts`). */
export interface ProtocolEvents {
  append(run: ActiveRun, name: string, body: Buffer): void;
  /** Resolves when the run's events so far are stored, or cannot be. */
  settled(runId: string): Promise<void>;
  sayIncomplete(run: ActiveRun, reason: string): void;
  ended(run: ActiveRun): void;
}

export interface RunQueueOptions {
  sql: Sql;
  hosts: () => HostPool;
  /** Few connections with pinned plans, for statements executed for every run; none of them waits long for a lock. */
  hotSql: Sql;
  /** For claims, which must not wait long on a dead connection. */
  leaseSql: Sql;
  log: Log;
  settings: AgentSettings;
  serverId: string;
  streams: RunStreams;
  follower: RunFollower;
  keeper: StreamKeeper;
  protocol: ProtocolEvents;
  fault: FaultPoint;
  /** Whether no other server shares the database, so that nothing has to be announced. */
  alone(): boolean;
  /** Called for every run that starts here. */
  onBegun(threadId: string): void;
  /** Called for every run that ended here. */
  onEnded(run: ActiveRun, outcome: string): void;
}
