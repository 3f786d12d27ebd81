/**
 * The lifecycle of the agent server: start order and stop order.
 *
 * database -> graph hosts -> lease -> queue -> (HTTP) -> ... -> queue drained -> hosts stopped -> lease released
 */
import { dirname, resolve, sep } from "node:path";

import type { GraphStatus, TraceDestination } from "../../../host-kit/src/host-protocol.ts";
import type { DatabaseAddress, Sql } from "../base/db/connect.ts";
import { migrateDatabase, withoutLimit } from "../base/db/migrate.ts";
import { uuid7 } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { Started } from "../base/started.ts";
import { registerSystemAssistants } from "./assistants/register-system-assistants.ts";
import { systemAssistantId } from "./project/assistant-id.ts";
import type { AgentDeps } from "./deps.ts";
import { OwnCodeApi } from "./project/own-code-api.ts";
import { provideInProcessClient } from "./custom-app/in-process-client.ts";
import { openStateKeys } from "./encryption/open-state-keys.ts";
import { loadProjectCode } from "./custom-app/load-project-code.ts";
import { mountPrefix } from "./project/mount-prefix.ts";
import { configuredDestination, isTracingDisabled } from "./hosts/tracing.ts";
import type { Project } from "./project/read-project.ts";
import { PythonCode } from "./python-code/python-code.ts";
import { watchProject } from "./hosts/watch-project.ts";
import { checkQueueKeys, declareQueueRules } from "./runs/declare-rules.ts";
import { primeQueue } from "./runs/prime-queue.ts";
import type { AgentSettings } from "./settings.ts";
import { buildParts } from "./start/build-parts.ts";
import { openStores, tryStores } from "./start/open-stores.ts";
import { StoreRules } from "./store/store-rules.ts";
import { registerAgentMetrics } from "./system/agent-metrics.ts";

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
  /** Rejects the database of another workspace. Called after the migration, before anything is written or executed. */
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
  const started = new Started();
  return started.orStop(async () => {
    const stateKeys = openStateKeys(options);
    const stores = await openStores(options, () => stateKeys.cipher, started);
    const port = Number(new URL(options.internalUrl).port);
    const ownCodeApi = new OwnCodeApi(options.internalUrl, settings);
    const python = new PythonCode({ log, configured: settings.python, port, ownCodeApi });
    started.add(() => python.stop());
    const store = new StoreRules(python);
    const configureStore = (project: Project) => withoutLimit(database, (sql) => store.configure(sql, project, log));
    await migrateDatabase(database);
    await tryStores(stores);
    await options.claim?.();
    await python.load(options.project);
    await stateKeys.start(options.project, python, stores.sql);
    started.add(async () => stateKeys.stop());
    checkQueueKeys(options.project, stateKeys.cipher !== undefined);
    await configureStore(options.project);

    let priming = Promise.resolve();
    started.add(() => priming);
    let destination: TraceDestination = configuredDestination(settings) ?? options.traces ?? { state: "off" };
    const traces = (): TraceDestination => (isTracingDisabled(settings, deps.project) ? { state: "off" } : destination);
    const parts = await buildParts(
      { ...options, stores, serverId: uuid7(), store, python, ownCodeApi, traces },
      started,
    );
    const deps: AgentDeps = parts.deps;
    const { hosts, queue, webhooks, crons, waits, health } = deps;
    const directTraces = () => hosts.sendTracesTo(traces());

    await loadProjectCode(deps, options.project);
    const provideClient = () =>
      provideInProcessClient((request) => deps.loopback.answerOwnCode(request), mountPrefix(deps));
    let withdrawClient = provideClient();
    registerAgentMetrics(deps.metrics.registry, { ...deps, lease: parts.lease });

    stateKeys.sendTo(hosts);
    directTraces();
    // user code takes longest to start, so it starts first
    hosts.start();
    await registerSystemAssistants(deps);
    await declareQueueRules(deps);
    await parts.lease.start();
    await parts.sweeper.configure(options.project);
    queue.start();
    webhooks.start();
    crons.start();
    deps.history.start();
    waits.start();
    priming = prime(stores.hotSql, deps);
    await parts.listener.start();

    const reload = async (project: Project) => {
      await python.load(project);
      await stateKeys.reload(project, python);
      checkQueueKeys(project, stateKeys.cipher !== undefined);
      await loadProjectCode(deps, project);
      deps.project = project;
      withdrawClient();
      withdrawClient = provideClient();
      options.onProject?.();
      await registerSystemAssistants(deps);
      await declareQueueRules(deps);
      hosts.reload(project);
      directTraces();
      await configureStore(project);
      await parts.sweeper.configure(project);
    };
    if (options.reload) {
      let hasFailed = false;
      const isLoaded = async (files: string[]) => {
        const { project } = deps;
        const inHosts = hosts.files;
        const inPython = await python.files().catch(() => undefined);
        if (hasFailed || inHosts === undefined || inPython === undefined) return true;
        const loaded = new Set([...inHosts, ...inPython, ...project.imported]);
        const bundled = Object.values(project.config.ui ?? {}).map(
          (entry) => dirname(resolve(project.dir, entry)) + sep,
        );
        return files.some((file) => loaded.has(file) || bundled.some((dir) => file.startsWith(dir)));
      };
      const watcher = watchProject(options.project, dataDir, log, isLoaded, (project) => {
        reload(project).then(
          () => (hasFailed = false),
          (error: unknown) => {
            hasFailed = true;
            log.error({ err: error }, "could not reload the project");
          },
        );
      });
      started.add(() => watcher.close());
    }
    started.add(() => health.stop());
    health.start();
    started.add(async () => withdrawClient());

    return {
      deps,
      sendTracesTo(target) {
        destination = configuredDestination(settings) ?? target;
        directTraces();
      },
      stop: () => started.stop(),
    };
  });
}

/** Warms up the queue's statements in the background. A failure here is harmless. */
async function prime(hotSql: Sql, { project, serverId, log }: AgentDeps): Promise<void> {
  const [graphId] = Object.keys(project.graphs);
  if (graphId === undefined) return;
  await primeQueue(hotSql, systemAssistantId(graphId), serverId).catch((error: unknown) =>
    log.debug({ err: error }, "could not prepare the queue's statements"),
  );
}
