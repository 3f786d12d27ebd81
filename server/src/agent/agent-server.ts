/**
 * The lifecycle of the agent server: start order and stop order.
 *
 * database -> lease -> queue and graph hosts -> (HTTP) -> ... -> queue drained -> hosts stopped -> lease released
 */
import { setTimeout as sleep } from "node:timers/promises";

import type { GraphStatus, TraceDestination } from "../../../graph-host/src/protocol.ts";
import { ConfigError } from "../base/config/options.ts";
import { connect, type DatabaseAddress, type Sql } from "../base/db/connect.ts";
import { Listener } from "../base/db/listener.ts";
import { migrateDatabase, withoutLimit } from "../base/db/migrate.ts";
import { LiveFrames } from "../base/events/live-frames.ts";
import { createFaultPoint } from "../base/fault-point.ts";
import { uuid7 } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { createMetrics } from "../base/metrics.ts";
import { createOutbound } from "../base/outbound/outbound.ts";
import { readPolicy } from "../base/outbound/policy.ts";
import { registerSystemAssistants } from "./assistants/register-system-assistants.ts";
import { systemAssistantId } from "./assistants/assistant-id.ts";
import { CronScheduler } from "./crons/cron-scheduler.ts";
import { runOfCron } from "./crons/run-of-cron.ts";
import type { AgentDeps } from "./deps.ts";
import { Sweeper } from "./housekeeping/sweeper.ts";
import { provideInProcessClient } from "./custom-app/in-process-client.ts";
import { loadProjectCode } from "./custom-app/load-project-code.ts";
import { mountPrefix } from "./custom-app/mount-prefix.ts";
import { Access } from "./custom-auth/access.ts";
import { HostPool } from "./hosts/host-pool.ts";
import { configuredDestination, isTracingRefused } from "./hosts/tracing.ts";
import type { Project } from "./project/read-project.ts";
import { watchProject } from "./hosts/watch-project.ts";
import { ProtocolLog } from "./protocol/protocol-log.ts";
import { primeQueue } from "./runs/prime-queue.ts";
import { RunFollower } from "./runs/run-follower.ts";
import { RunQueue } from "./runs/run-queue.ts";
import { type RunStream, RunStreams } from "./runs/run-streams.ts";
import { streamBacking } from "./runs/stream-backing.ts";
import { StreamKeeper } from "./runs/stream-keeper.ts";
import { refreshThreadHead } from "./runs/refresh-thread.ts";
import { StreamSweeper } from "./runs/stream-sweeper.ts";
import { ServerLease } from "./servers/server-lease.ts";
import type { AgentSettings } from "./settings.ts";
import { runStoreOperations } from "./store/run-operations.ts";
import { StoreRules } from "./store/store-rules.ts";
import { StaleThreads } from "./threads/stale-threads.ts";
import { ThreadWatch } from "./thread-stream/thread-watch.ts";
import { UiBundles } from "./ui/ui-bundles.ts";
import { registerAgentMetrics, runDurations } from "./system/agent-metrics.ts";
import { agentHealth } from "./system/health.ts";
import { receiverIn } from "./webhooks/receiver-of.ts";
import { WebhookSender } from "./webhooks/webhook-sender.ts";

/** Exceeds the longest statement of a request: a state update holds its thread for 15 s. */
const SILENCE_MS = 20_000;
/** Limit for statements that hardly ever wait. */
const HOT_SILENCE_MS = 10_000;

export interface AgentServerOptions {
  settings: AgentSettings;
  log: Log;
  project: Project;
  database: DatabaseAddress;
  dataDir: string;
  /** URL under which other servers reach this one. */
  internalUrl: string;
  reload: boolean;
  /** Whether outbound calls to loopback are allowed, as on a developer's machine. */
  openLoopback: boolean;
  /** Destination of run traces unless a setting names one. Default: none. */
  traces?: TraceDestination | undefined;
  /** Refuses the database of another workspace. Called after the migration, before anything is written or executed. */
  claim?: () => Promise<unknown>;
  /** Called when graphs were loaded: at start and after each reload. */
  onGraphs(graphs: Record<string, GraphStatus>): void;
  /** Called after the project was reloaded, so that everything derived from its configuration is rebuilt. */
  onProject?: () => void;
}

export interface AgentServer {
  deps: AgentDeps;
  /** Sets the trace destination from now on, unless a setting names one or the project turns tracing off. */
  sendTracesTo(destination: TraceDestination): void;
  /** Stops claiming, waits for runs within the grace period, hands the rest back, ends all hosts. */
  stop(): Promise<void>;
}

export async function startAgentServer(options: AgentServerOptions): Promise<AgentServer> {
  const { settings, log, database, dataDir } = options;
  const serverId = uuid7();
  const live = await openLive(settings.redisUri, log);
  const store = new StoreRules();
  const configureStore = (project: Project) => withoutLimit(database, (sql) => store.configure(sql, project, log));
  try {
    await migrateDatabase(database);
    await options.claim?.();
    await configureStore(options.project);
  } catch (error) {
    live?.close();
    throw error;
  }
  const sql = connect(database, { max: settings.databasePool, name: "heddle server", silenceMs: SILENCE_MS });
  // creates are serialised, and so are ends
  const hotSql = connect(database, { max: 2, name: "heddle queue", pinned: true, silenceMs: HOT_SILENCE_MS });
  // a dead connection must be noticed within the lease
  const leaseSql = connect(database, { max: 2, name: "heddle lease", silenceMs: settings.leaseMs / 2 });
  const metrics = createMetrics();
  const outbound = createOutbound(readPolicy(settings.outboundAllow, options.openLoopback));
  const fault = createFaultPoint(settings.faultPoints);
  const backing = await streamBacking(sql, log, dataDir, settings.streamDiskMb);
  const streams = new RunStreams(
    { dataDir, serverId, ttlSecs: settings.streamTtlSecs, memoryMb: settings.streamMemoryMb },
    backing,
  );
  // frames are written one statement at a time, on a connection separate from the queue's
  const framesSql = connect(database, { max: 1, name: "heddle frames", silenceMs: HOT_SILENCE_MS });
  const onLost = (stream: RunStream) => void follower.follow(stream.runId);
  const keeper = new StreamKeeper({ sql: framesSql, endSql: hotSql, log, live, notify: () => !alone(), onLost });
  const alone = () => lease.alone;
  const isActive = (runId: string) => queue.has(runId);
  const follower = new RunFollower({ sql, streams, log, serverId, keeper, live, isActive, alone });
  const threadWatch = new ThreadWatch(sql, log);
  const streamSweeper = new StreamSweeper(sql, log, settings.streamTtlSecs);
  const staleThreads = new StaleThreads({ sql, log, refresh: (id) => refreshThreadHead(sql, hosts, id) });
  const protocol = new ProtocolLog({ sql, log, ttlSecs: settings.streamTtlSecs, alone, ...backing });
  const lease: ServerLease = new ServerLease({
    sql,
    leaseSql,
    log,
    serverId,
    leaseMs: settings.leaseMs,
    maxFailures: settings.maxFailures,
    internalUrl: options.internalUrl,
    graphs: () => hosts.runnable,
    onLost: () => queue.loseAll(),
    onReleased: () => queue.wake(),
    onBeat: (running, asked) => queue.onBeat(running, asked),
    onLostTrace: (trace) => hosts.closeTrace(trace),
  });
  const durations = runDurations(metrics.registry);
  const queue: RunQueue = new RunQueue({
    sql,
    hosts: () => hosts,
    hotSql,
    leaseSql,
    log,
    settings,
    serverId,
    streams,
    follower,
    keeper,
    protocol,
    fault,
    alone,
    onBegun: (threadId) => threadWatch.touch(threadId),
    onEnded: ({ graphId, kwargs, claimedAt }, outcome) => {
      durations(graphId ?? "", outcome, (performance.now() - claimedAt) / 1000);
      const receiver = receiverIn(kwargs);
      if (receiver !== null) webhooks.wake(receiver);
    },
  });
  const hosts = new HostPool(
    {
      project: options.project,
      database,
      memoryMb: settings.hostMemoryMb,
      blockMs: settings.hostBlockMs,
      // a frozen server's hosts must exit before its lease expires, which is 0.8 leases after the freeze at the
      // earliest
      silenceMs: settings.leaseMs * 0.6,
      count: settings.hosts,
      log,
    },
    {
      onEvent: (runId, event, data) => queue.onHostEvent(runId, event, data),
      onRunEnd: (end, result) => queue.onRunEnd(end, result),
      onMark: (runId, checkpointId) => queue.onMark(runId, checkpointId),
      onResumed: (runId, checkpointId) => queue.onResumed(runId, checkpointId),
      onStoreCall: (operations) => runStoreOperations(sql, store, operations),
      onExit: (host, reason) => {
        if (reason !== "drained" && reason !== "the server stopped")
          log.warn({ pid: host.pid }, `A graph host ${reason}.`);
        queue.onHostExit(host, reason);
      },
      onCapacity: () => queue.onCapacity(),
      onGraphs(graphs) {
        void lease.tellGraphs().then(() => queue.wake());
        options.onGraphs(graphs);
      },
    },
  );
  const loopback: AgentDeps["loopback"] = {
    ready: false,
    answer: () => Promise.reject(new Error("The server is still starting.")),
  };
  const webhooks: WebhookSender = new WebhookSender({
    sql,
    log,
    settings,
    outbound,
    fault,
    rules: () => deps.project.webhooks,
    answer: () => (loopback.ready ? loopback.answer : null),
  });
  const crons: CronScheduler = new CronScheduler({
    sql,
    log,
    settings,
    fault,
    runOf: (cron, occurrence) => runOfCron(deps, cron, occurrence),
    onCreated: () => queue.wake(),
  });
  const deps: AgentDeps = {
    sql,
    log,
    settings,
    dataDir,
    serverId,
    project: options.project,
    hosts,
    queue,
    streams,
    follower,
    threadWatch,
    protocol,
    metrics,
    health: agentHealth({ sql, log, settings, dataDir, hosts, queue, lease }),
    access: new Access(),
    customApp: null,
    ui: new UiBundles(),
    outbound,
    webhooks,
    crons,
    loopback,
    store,
    traces: () => (isTracingRefused(settings, deps.project) ? { state: "off" } : traces),
  };
  const sweeper = new Sweeper({ sql, log, settings, store });

  await loadProjectCode(deps, options.project);
  const provideClient = () => provideInProcessClient((request) => deps.loopback.answer(request), mountPrefix(deps));
  let withdraw = provideClient();
  registerAgentMetrics(metrics.registry, deps);

  let traces: TraceDestination = configuredDestination(settings) ?? options.traces ?? { state: "off" };
  const directTraces = () => hosts.sendTracesTo(deps.traces());
  directTraces();
  // user code takes longest to start, so it starts first
  hosts.start();
  await registerSystemAssistants(deps);
  await lease.start();
  await sweeper.configure(options.project);
  queue.start();
  webhooks.start();
  crons.start();
  deps.health.start();
  const priming = prime(hotSql, deps);
  const listener = listen(database, log, { queue, follower, protocol });
  await listener.start();

  const watcher = options.reload
    ? watchProject(options.project, dataDir, log, (project) => {
        void loadProjectCode(deps, project)
          .then(() => {
            deps.project = project;
            withdraw();
            withdraw = provideClient();
            options.onProject?.();
            return registerSystemAssistants(deps);
          })
          .then(() => hosts.reload(project))
          .then(directTraces)
          .then(() => configureStore(project))
          .then(() => sweeper.configure(project))
          .catch((error: unknown) => log.error({ err: error }, "could not reload the project"));
      })
    : undefined;

  return {
    deps,
    sendTracesTo(destination) {
      traces = configuredDestination(settings) ?? destination;
      directTraces();
    },
    async stop() {
      withdraw();
      await deps.health.stop();
      await watcher?.close();
      await staleThreads.stop();
      await sweeper.stop();
      await crons.stop();
      await queue.stop();
      await webhooks.stop();
      await outbound.close();
      follower.stop();
      streamSweeper.stop();
      threadWatch.stop();
      await protocol.stop();
      await keeper.stop();
      await Promise.race([lease.stop(), sleep(3000)]).catch((error: unknown) =>
        log.warn({ err: error }, "could not release the lease; it will expire"),
      );
      await listener.stop();
      await streams.stop();
      await priming;
      live?.close();
      await Promise.all([sql, hotSql, leaseSql, framesSql].map((one) => one.end({ timeout: 2 })));
    },
  };
}

/** Warms up the queue's statements in the background. A failure here is harmless. */
async function prime(hotSql: Sql, { project, serverId, log }: AgentDeps): Promise<void> {
  const [graphId] = Object.keys(project.graphs);
  if (graphId === undefined) return;
  await primeQueue(hotSql, systemAssistantId(graphId), serverId).catch((error: unknown) =>
    log.debug({ err: error }, "could not prepare the queue's statements"),
  );
}

async function openLive(uri: string | undefined, log: Log): Promise<LiveFrames | undefined> {
  if (uri === undefined) return undefined;
  return LiveFrames.connect(uri, log).catch((error: unknown) => {
    throw new ConfigError((error as Error).message);
  });
}

/**
 * Listens for new work, cancellations and ends, announced by other servers and by this one. Polls and heartbeats find
 * what a notification misses.
 */
function listen(
  database: DatabaseAddress,
  log: Log,
  { queue, follower, protocol }: Pick<AgentDeps, "queue" | "follower" | "protocol">,
): Listener {
  return new Listener(database, {
    log,
    channels: {
      heddle_queue: () => queue.wake(),
      heddle_cancel: (runId) => queue.onCancelNotice(runId),
      heddle_protocol: (threadId) => protocol.onNotice(threadId),
      heddle_done: (runId) => follower.onNotice(runId),
      heddle_frames: (runId) => follower.onNotice(runId),
      heddle_want: (runIds) => queue.onWanted(runIds.split(",")),
    },
    onGap: () => queue.wake(),
  });
}
