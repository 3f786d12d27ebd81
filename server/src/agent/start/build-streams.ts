import type { Log } from "../../base/log.ts";
import type { Started } from "../../base/started.ts";
import type { AgentDeps } from "../deps.ts";
import { ThreadFeeds } from "../protocol/thread-feeds.ts";
import { RunFollower } from "../streams/run-follower.ts";
import { type RunStream, RunStreams, type StreamBacking } from "../streams/run-streams.ts";
import { streamBacking } from "../streams/stream-backing.ts";
import { StreamKeeper } from "../streams/stream-keeper.ts";
import { StreamSweeper } from "../streams/stream-sweeper.ts";
import type { AgentSettings } from "../settings.ts";
import { ThreadWatch } from "../thread-stream/thread-watch.ts";
import type { AgentStores } from "./open-stores.ts";

interface Options {
  stores: AgentStores;
  settings: AgentSettings;
  log: Log;
  dataDir: string;
  serverId: string;
}

export interface LocalStreams {
  streams: RunStreams;
  backing: Required<StreamBacking>;
}

/** Opens the streams of runs on this server: in memory, and in files for frames that exceed it. */
export async function openStreams(
  { stores, settings, log, dataDir, serverId }: Options,
  started: Started,
): Promise<LocalStreams> {
  const { streamDiskMb, streamTtlSecs: ttlSecs, streamMemoryMb: memoryMb } = settings;
  const backing = await streamBacking(stores.sql, log, dataDir, streamDiskMb);
  const streams = new RunStreams({ dataDir, serverId, ttlSecs, memoryMb }, backing);
  started.add(() => streams.stop());
  return { streams, backing };
}

interface SharingOptions extends Options, LocalStreams {
  /** Whether no other server shares the database. */
  alone(): boolean;
  /** Whether this server executes the run. */
  isActive(runId: string): boolean;
}

export type SharedStreams = Pick<AgentDeps, "protocol" | "threadWatch" | "follower"> & { keeper: StreamKeeper };

/** Builds what shares streams through the database: the writer of frames, and readers of those of others. */
export function shareStreams(options: SharingOptions, started: Started): SharedStreams {
  const { stores, settings, log, serverId, streams, alone, isActive } = options;
  const { sql, framesSql, hotSql, live } = stores;
  const { streamTtlSecs: ttlSecs } = settings;
  const onLost = (stream: RunStream) => void follower.follow(stream.runId);
  const protocol = new ThreadFeeds(sql, log);
  started.add(() => protocol.stop());
  const keeper = new StreamKeeper({
    sql: framesSql,
    endSql: hotSql,
    log,
    live,
    notify: () => !alone(),
    onLost,
    onEvents: (...stored) => protocol.onEvents(...stored),
  });
  started.add(() => keeper.stop());
  const threadWatch = new ThreadWatch(sql, log);
  started.add(() => threadWatch.stop());
  const streamSweeper = new StreamSweeper(sql, log, ttlSecs);
  streamSweeper.start();
  started.add(() => streamSweeper.stop());
  const follower = new RunFollower({ sql, streams, log, serverId, keeper, live, isActive, alone });
  started.add(() => follower.stop());
  return { keeper, protocol, threadWatch, follower };
}
