import type { Sql } from "../../base/db/connect.ts";
import type { FaultPoint } from "../../base/fault-point.ts";
import type { Log } from "../../base/log.ts";
import type { GraphHosts } from "../hosts/graph-hosts.ts";
import type { AgentSettings } from "../settings.ts";
import type { ActiveRun } from "./active-run.ts";
import type { RunFollower } from "../streams/run-follower.ts";
import type { RunStreams } from "../streams/run-streams.ts";
import type { StreamKeeper } from "../streams/stream-keeper.ts";

/** Counters since the start of the server. */
export interface RunCounts {
  started: number;
  finished: number;
  released: number;
  lost: number;
}

export interface RunQueueOptions {
  sql: Sql;
  hosts: () => GraphHosts;
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
  fault: FaultPoint;
  /** Whether no other server shares the database, so that nothing has to be announced. */
  alone(): boolean;
  /** Servers that share the database, with this one. */
  servers(): number;
  /** Lowest fraction of slots in use on another server; undefined when there is none to share work with. */
  lowestLoadElsewhere(): number | undefined;
  /** Called for every attempt that starts here. */
  onStarted(run: ActiveRun, waitedSeconds: number | null): void;
  /** Called for every run that ended here. */
  onEnded(run: ActiveRun, outcome: string): void;
}
