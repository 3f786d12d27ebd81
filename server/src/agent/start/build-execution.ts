import { SUPERSEDED } from "../hosts/graph-host.ts";
import type { GraphStatus } from "../../../../host-kit/src/host-protocol.ts";
import type { DatabaseAddress } from "../../base/db/connect.ts";
import type { FaultPoint } from "../../base/fault-point.ts";
import type { Log } from "../../base/log.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { Started } from "../../base/started.ts";
import type { Telemetry } from "../../base/telemetry/telemetry.ts";
import type { AgentDeps } from "../deps.ts";
import { GraphHosts } from "../hosts/graph-hosts.ts";
import type { MetricHistory } from "../metric-history/metric-history.ts";
import type { Project } from "../project/read-project.ts";
import { recordRun } from "../runs/record-run.ts";
import { RunQueue } from "../runs/run-queue.ts";
import type { ServerLease } from "../servers/server-lease.ts";
import type { AgentSettings } from "../settings.ts";
import { runStoreOperations } from "../store/run-operations.ts";
import { runDurations } from "../system/agent-metrics.ts";
import { receiverIn } from "../webhooks/receiver-in.ts";
import type { RunWebhooks } from "../webhooks/run-webhooks.ts";
import type { LocalStreams, SharedStreams } from "./build-streams.ts";
import type { AgentStores } from "./open-stores.ts";

interface Options extends Pick<LocalStreams, "streams">, SharedStreams {
  stores: AgentStores;
  database: DatabaseAddress;
  /** URL under which this server is reached on its machine. */
  internalUrl: string;
  /** Whether the project is reloaded when its files change. */
  reload: boolean;
  settings: AgentSettings;
  log: Log;
  serverId: string;
  project: Project;
  /** The `store` section of langgraph.json. */
  store: AgentDeps["store"];
  ownCodeApi: AgentDeps["ownCodeApi"];
  metrics: Metrics;
  telemetry: Telemetry | undefined;
  fault: FaultPoint;
  lease: ServerLease;
  webhooks: RunWebhooks;
  history(): Pick<MetricHistory, "runStarted" | "runEnded">;
  /** Called when graphs were loaded. */
  onGraphs(graphs: Record<string, GraphStatus>): void;
}

/** Builds what executes runs: the queue, and the graph hosts, which stop with it. */
export function buildExecution(options: Options, started: Started): { queue: RunQueue; hosts: GraphHosts } {
  const { settings, log, metrics, telemetry, lease, webhooks } = options;
  const { sql, hotSql, leaseSql } = options.stores;
  const { serverId, streams, follower, keeper, fault, threadWatch } = options;
  const durations = runDurations(metrics.registry);
  const queue = new RunQueue({
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
    fault,
    alone: () => lease.alone,
    servers: () => lease.servers,
    lowestLoadElsewhere: () => lease.lowestLoadElsewhere,
    onStarted({ threadId, graphId, start }, waited) {
      threadWatch.touch(threadId);
      if (waited !== null) options.history().runStarted({ graphId, assistantId: start.assistant_id }, waited);
    },
    onEnded(run, outcome) {
      const { runId, threadId, graphId, attempt, kwargs, claimedAt } = run;
      const ms = performance.now() - claimedAt;
      durations(graphId ?? "", outcome, ms / 1000);
      options.history().runEnded({ graphId, assistantId: run.start.assistant_id }, outcome, ms / 1000);
      if (telemetry) recordRun(telemetry, run, outcome);
      if (log.isLevelEnabled("info")) {
        const about = { run: runId, thread: threadId, graph: graphId, attempt, ms: Math.round(ms) };
        log.info(about, `run ended: ${outcome}`);
      }
      const receiver = receiverIn(kwargs);
      if (receiver !== null) webhooks.wake(receiver);
    },
  });
  started.add(() => queue.stop());
  const hosts = createHosts(options, queue);
  return { queue, hosts };
}

const createHosts = (
  { project, database, internalUrl, reload, settings, log, stores, store, ownCodeApi, lease, onGraphs }: Options,
  queue: RunQueue,
): GraphHosts =>
  new GraphHosts(
    {
      project,
      database,
      memoryMb: settings.hostMemoryMb,
      maxValueMb: settings.maxValueMb,
      blockMs: settings.hostBlockMs,
      startMs: settings.hostStartMs,
      // a frozen server's hosts must exit before its lease expires, which is 0.8 leases after the freeze at the
      // earliest
      silenceMs: settings.leaseMs * 0.6,
      count: settings.hosts,
      isolatedCount: settings.isolatedHosts,
      python: settings.python,
      runsLifespan: settings.hostLifespan,
      ownCodeApi,
      debugPort: settings.debugPort || undefined,
      port: Number(new URL(internalUrl).port),
      reloads: reload,
      log,
    },
    {
      onEvent: (runId, event, data) => queue.frames.onEvent(runId, event, data),
      onRunEnd: (end, result) => queue.onRunEnd(end, result),
      onMark: (runId, checkpointId) => queue.frames.onMark(runId, checkpointId),
      onResumed: (runId, checkpointId) => queue.frames.onResumed(runId, checkpointId),
      onStoreCall: (operations) => runStoreOperations(stores.sql, store, operations),
      onExit(host, reason) {
        if (![SUPERSEDED, "drained", "the server stopped"].includes(reason))
          log.warn({ pid: host.pid }, `A graph host ${reason}.`);
        queue.onHostExit(host, reason);
      },
      onCapacity: () => queue.onCapacity(),
      onGraphs(graphs) {
        void lease.announceGraphs().then(() => queue.wake());
        onGraphs(graphs);
      },
    },
  );
