import type { GraphStatus, TraceDestination } from "../../../host-kit/src/host-protocol.ts";
import { startAgentServer } from "../agent/agent-server.ts";
import { readProject } from "../agent/project/read-project.ts";
import { agentOptions, type AgentSettings } from "../agent/settings.ts";
import { createAgentApp } from "../agent-app.ts";
import { readOptions } from "../base/config/options.ts";
import { deferred } from "../base/deferred.ts";
import { openSecrets } from "../base/secrets/secrets.ts";
import { secretsOptions } from "../base/secrets/settings.ts";
import type { Started } from "../base/started.ts";
import { deriveSealKey } from "../identity/audit/seal.ts";
import { isLoopback, resolveExposure } from "../identity/exposure.ts";
import { claimForWorkspace, openIdentity } from "../identity/identity.ts";
import { identityOptions } from "../identity/settings.ts";
import { agentPages } from "../pages.ts";
import {
  describeServer,
  type Environment,
  findReach,
  openServer,
  type RunningServer,
  serve,
  type Served,
  type ServerSettings,
} from "./running-server.ts";

export interface AgentServerSettings extends ServerSettings {
  /** Path of langgraph.json. */
  config: string;
  reload?: boolean | undefined;
  jobs?: number | undefined;
  /** Port on which a debugger can attach to graph hosts. */
  debugPort?: number | undefined;
  /** Whether it only executes runs, and serves only health and metrics. */
  worker?: boolean | undefined;
  /** Destination of the traces of runs; none by default. */
  traces?: TraceDestination | undefined;
  /** Stops other users of this server's database, which must outlive its runs. */
  stopOthers?: () => Promise<unknown>;
  /** Called when graphs were loaded, at start and after each change. */
  onGraphs?: (graphs: Record<string, GraphStatus>) => void;
}

export interface RunningAgentServer extends RunningServer {
  /** Load status of each graph, with the reason of a failure; resolves when the first host is ready. */
  graphs: Promise<Record<string, GraphStatus>>;
  warnings: string[];
  /** Whether the project's own authentication replaces keys. */
  hasOwnAuth: boolean;
  /** Sends traces there from now on. Settings of the operator and of the project take precedence. */
  sendTracesTo(destination: TraceDestination): void;
}

export async function openAgentServer(
  settings: AgentServerSettings,
  env: Environment,
  started: Started,
): Promise<RunningAgentServer> {
  const { jobs, debugPort, reload, host, dataDir } = settings;
  const overrides: Partial<AgentSettings> = {};
  if (jobs !== undefined) Object.assign(overrides, { jobs });
  if (debugPort !== undefined) Object.assign(overrides, { debugPort });
  if (reload !== undefined) Object.assign(overrides, { reload });
  const options = readOptions({ ...agentOptions, ...identityOptions, ...secretsOptions }, env, overrides);
  const project = await readProject(settings.config);
  const graphs = deferred<Record<string, GraphStatus>>();
  const opened = await openServer(settings, options, started);
  const { http, log, database, bodies } = opened;
  started.add(() => settings.stopOthers?.() ?? Promise.resolve());
  let createCurrent = () => {};
  let workspaceId = options.workspaceId;
  const agent = await startAgentServer({
    settings: options,
    log,
    project,
    database,
    dataDir,
    internalUrl: http.url,
    reload: options.reload,
    // for a deployment only its address counts: the gateway in front of it is its trusted proxy
    openLoopback:
      !resolveExposure(options, host).keysNeeded ||
      (options.authUrl !== undefined && isLoopback(host) && options.auth !== "required"),
    traces: settings.traces,
    claim: async () => (workspaceId = await claimForWorkspace(database, { settings: options, log })),
    onProject: () => createCurrent(),
    onGraphs(loaded) {
      graphs.resolve(loaded);
      settings.onGraphs?.(loaded);
    },
  });
  started.add(() => agent.stop());
  const { deps, sendTracesTo } = agent;
  const { keyring } = await openSecrets({ sql: deps.sql, log, dataDir, settings: options });
  const identity = await openIdentity({
    sql: deps.sql,
    log,
    settings: { ...options, workspaceId },
    host,
    ofOneWorkspace: true,
    sealKey: deriveSealKey(keyring.newest),
  });
  started.add(() => identity.stop());
  const reach = findReach(identity, host);
  const createApp = () => createAgentApp(deps, { ...identity.guard, bodies }, settings.worker, reach);
  let app = createApp();
  createCurrent = () => (app = createApp());
  const fetch: Served["fetch"] = (request, bindings) => app.fetch(request, bindings);
  serve(http, { fetch, pages: agentPages(deps, reach), health: deps.health, settings: options }, started);
  const hasOwnAuth = project.config.auth?.path !== undefined;
  return {
    ...describeServer(opened, identity, started),
    // the project's own auth decides, whether or not keys are required
    ...(hasOwnAuth && { access: "The project's own auth authorizes callers of the API." }),
    graphs: graphs.promise,
    warnings: project.warnings,
    hasOwnAuth,
    sendTracesTo,
  };
}
