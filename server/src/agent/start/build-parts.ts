import type { GraphStatus, TraceDestination } from "../../../../host-kit/src/host-protocol.ts";
import type { DatabaseAddress } from "../../base/db/connect.ts";
import type { Listener } from "../../base/db/listener.ts";
import { createFaultPoint } from "../../base/fault-point.ts";
import type { Log } from "../../base/log.ts";
import { createMetrics } from "../../base/metrics.ts";
import { createOutbound } from "../../base/outbound/outbound.ts";
import { readPolicy } from "../../base/outbound/policy.ts";
import type { Started } from "../../base/started.ts";
import { startTelemetry } from "../../base/telemetry/telemetry.ts";
import { CronScheduler } from "../crons/cron-scheduler.ts";
import { runOfCron } from "../crons/run-of-cron.ts";
import { WaitPoller } from "../waits/wait-poller.ts";
import { Access } from "../custom-auth/access.ts";
import type { AgentDeps } from "../deps.ts";
import { Sweeper } from "../housekeeping/sweeper.ts";
import { tracingProject } from "../hosts/tracing.ts";
import { MetricHistory } from "../metric-history/metric-history.ts";
import type { Project } from "../project/read-project.ts";
import type { OwnCodeApi } from "../project/own-code-api.ts";
import type { PythonCode } from "../python-code/python-code.ts";
import { refreshThreadHead } from "../runs/refresh-thread.ts";
import type { ServerLease } from "../servers/server-lease.ts";
import type { AgentSettings } from "../settings.ts";
import { agentHealth } from "../system/health.ts";
import { StaleThreads } from "../threads/stale-threads.ts";
import { UiBundles } from "../ui/ui-bundles.ts";
import { RunWebhooks } from "../webhooks/run-webhooks.ts";
import { buildExecution } from "./build-execution.ts";
import { openStreams, shareStreams } from "./build-streams.ts";
import { joinServers } from "./join-servers.ts";
import type { AgentStores } from "./open-stores.ts";

interface Options {
  stores: AgentStores;
  settings: AgentSettings;
  log: Log;
  project: Project;
  database: DatabaseAddress;
  dataDir: string;
  serverId: string;
  internalUrl: string;
  reload: boolean;
  openLoopback: boolean;
  /** The `store` section of langgraph.json. */
  store: AgentDeps["store"];
  python: PythonCode;
  ownCodeApi: OwnCodeApi;
  traces(): TraceDestination;
  onGraphs(graphs: Record<string, GraphStatus>): void;
}

interface AgentParts {
  deps: AgentDeps;
  listener: Listener;
  lease: ServerLease;
  sweeper: Sweeper;
}

/**
 * Builds the parts of an agent server in the reverse of the order in which they stop. Each is added to `started` at
 * once, because some open pools and timers when they are built. They refer to later parts through functions.
 */
export async function buildParts(options: Options, started: Started): Promise<AgentParts> {
  const { stores, settings, log, project, dataDir, serverId, store, traces } = options;
  const { sql } = stores;
  const metrics = createMetrics();
  const telemetry = startTelemetry(settings, log, "agent");
  started.add(async () => telemetry?.stop());
  const fault = createFaultPoint(settings.faultPoints);
  const local = await openStreams(options, started);
  const { listener, lease } = joinServers({ ...options, parts: () => deps }, started);
  const links = { alone: () => lease.alone, isActive: (runId: string) => deps.queue.has(runId) };
  const { keeper, ...shared } = shareStreams({ ...options, ...local, ...links }, started);

  // stops after what it counts
  const history = new MetricHistory({
    sql,
    log,
    serverId,
    traces,
    project: () => tracingProject(settings, deps.project),
    counts: () => ({ cron: deps.crons.counts, webhook: deps.webhooks.counts }),
  });
  started.add(() => history.stop());

  const outbound = createOutbound(readPolicy(settings.outboundAllow, options.openLoopback));
  started.add(() => outbound.close());
  const notReady = () => Promise.reject(new Error("The server is still starting."));
  const loopback: AgentDeps["loopback"] = { ready: false, answer: notReady, answerOwnCode: notReady };
  const rules = () => deps.project.webhooks;
  const answer = () => (loopback.ready ? loopback.answer : null);
  const webhooks = new RunWebhooks({ sql, log, settings, outbound, fault, rules, answer });
  started.add(() => webhooks.stop());

  const { streams } = local;
  const execution = {
    ...options,
    ...shared,
    streams,
    keeper,
    metrics,
    telemetry,
    fault,
    lease,
    webhooks,
    history: () => history,
  };
  const { queue, hosts } = buildExecution(execution, started);

  const crons: CronScheduler = new CronScheduler({
    sql,
    log,
    settings,
    fault,
    prepareRun: (cron, occurrence) => runOfCron(deps, cron, occurrence),
    onCreated: () => queue.wake(),
  });
  started.add(() => crons.stop());
  const waits = new WaitPoller({ sql, log, fault, onCreated: () => queue.wake() });
  started.add(() => waits.stop());
  const sweeper = new Sweeper({ sql, log, settings, store });
  started.add(() => sweeper.stop());
  const staleThreads = new StaleThreads({ sql, log, refresh: (id) => refreshThreadHead(sql, hosts, id) });
  staleThreads.start();
  started.add(() => staleThreads.stop());

  const deps: AgentDeps = {
    ...shared,
    sql,
    log,
    settings,
    dataDir,
    serverId,
    project,
    hosts,
    queue,
    streams,
    metrics,
    telemetry,
    health: agentHealth({ sql, log, settings, dataDir, hosts, queue, lease, reload: options.reload }),
    access: new Access(),
    python: options.python,
    ownCodeApi: options.ownCodeApi,
    customApp: null,
    ui: new UiBundles(),
    outbound,
    webhooks,
    history,
    crons,
    waits,
    loopback,
    store,
    traces,
  };
  return { deps, listener, lease, sweeper };
}
