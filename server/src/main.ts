/** Servers as programs: port, database, spaces and authentication, from start to shutdown. */
import type { IncomingMessage } from "node:http";

import type { Hono } from "hono";

import type { GraphStatus, TraceDestination } from "../../graph-host/src/protocol.ts";
import { startAgentServer as startAgent } from "./agent/agent-server.ts";
import { readProject } from "./agent/project/read-project.ts";
import { agentOptions, type AgentSettings } from "./agent/settings.ts";
import { createAgentApp, createControlApp, createTraceApp } from "./app.ts";
import { readOptions } from "./base/config/options.ts";
import type { DatabaseAddress } from "./base/db/connect.ts";
import { openDatabase } from "./base/db/open-database.ts";
import type { EmbeddedPostgresSettings } from "./base/db/settings.ts";
import { startControlPlane } from "./control/control-plane.ts";
import { startConsoleServer } from "./console/console-server.ts";
import { consoleOptions } from "./console/settings.ts";
import type { SpaceUrls } from "./console/space-proxy.ts";
import { Gateway } from "./control/gateway/gateway.ts";
import { openRegistry } from "./control/registry/open-registry.ts";
import { controlOptions } from "./control/settings.ts";
import { deferred } from "./base/deferred.ts";
import { BodyGate, type BodySettings } from "./base/http/body-gate.ts";
import { type Ahead, type HttpServer, listenHttp, type ListenSettings } from "./base/http/http-server.ts";
import type { BrowserPolicy } from "./base/http/browser-guard.ts";
import { inOrder } from "./base/http/in-order.ts";
import { createLog, type Log } from "./base/log.ts";
import { openSecrets } from "./base/secrets/secrets.ts";
import { secretsOptions } from "./base/secrets/settings.ts";
import { Started } from "./base/started.ts";
import { surviveShortages } from "./base/stray-errors.ts";
import { sealKeyOf } from "./identity/audit/seal.ts";
import { claimForWorkspace, type Identity, openIdentity } from "./identity/identity.ts";
import { type Exposure, type ExposureSettings, isLoopback, judgeExposure } from "./identity/exposure.ts";
import { createCredentialRule } from "./identity/platform-credentials.ts";
import { identityOptions } from "./identity/settings.ts";
import { agentPages, controlPages, type Reach, tracePages } from "./pages.ts";
import { traceOptions } from "./trace/settings.ts";
import { startTracePlatform } from "./trace/trace-platform.ts";

interface ServerSettings {
  host: string;
  /** 0 selects any free port. */
  port: number;
  dataDir: string;
  /** Postgres by URL, or one that is already running; default: the embedded one. */
  database?: string | DatabaseAddress | undefined;
}

export interface AgentServerSettings extends ServerSettings {
  /** Path of langgraph.json. */
  config: string;
  reload?: boolean | undefined;
  jobs?: number | undefined;
  /** Whether it only executes runs, and serves only health and metrics. */
  worker?: boolean | undefined;
  /** Destination of the traces of runs; none by default. */
  traces?: TraceDestination | undefined;
  /** Stops other users of this server's database, which must outlive its runs. */
  stopOthers?: () => Promise<unknown>;
  /** Called when graphs were loaded, at start and after each change. */
  onGraphs?: (graphs: Record<string, GraphStatus>) => void;
}

export interface RunningServer {
  url: string;
  /** Whether requests need a key. */
  keysNeeded: boolean;
  /** Access rule and its reason, as one sentence. */
  access: string;
  /** Key with all permissions, if this start created it. Shown once: it cannot be retrieved again. */
  firstKey: string | null;
  /** Address for other servers on the same database. */
  database: DatabaseAddress;
  close(): Promise<void>;
}

export interface RunningControlServer extends RunningServer {
  /** Isolation of deployments that run as processes and its reason, as one sentence; null where containers run them. */
  isolation: string | null;
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

export interface TraceServerSettings extends ServerSettings {
  /** Key of the agent server that sends the traces of its runs. */
  tracingKey?: string | undefined;
}

export interface ControlServerSettings extends ServerSettings {
  /** Path of bin/heddle.js, which starts agent servers. */
  launcher: string;
  /** Destination of the traces of deployments' runs; no deployment starts before it is known. */
  traces?: Promise<{ url: string; key: string } | null> | undefined;
  /** Stops other users of this server's database, which must outlive its deployments. */
  stopOthers?: () => Promise<unknown>;
}

export interface ConsoleServerSettings {
  host: string;
  /** 0 selects any free port. */
  port: number;
  /** Directory of the built console; null while it is being built. */
  files: () => string | null;
  spaces: SpaceUrls;
  /** Whether the servers behind it need a key; default: derived from the console's own address and settings. */
  keysNeeded?: boolean | undefined;
}

/** Starts an agent server. Resolves when requests are answered; graphs may still be loading. */
export function startAgentServer(settings: AgentServerSettings): Promise<RunningAgentServer> {
  const started = new Started();
  return started.orStop(async () => {
    const overrides: Partial<AgentSettings> = {};
    if (settings.jobs !== undefined) Object.assign(overrides, { jobs: settings.jobs });
    if (settings.reload !== undefined) Object.assign(overrides, { reload: settings.reload });
    const options = readOptions({ ...agentOptions, ...identityOptions, ...secretsOptions }, process.env, overrides);
    const project = await readProject(settings.config);
    const graphs = deferred<Record<string, GraphStatus>>();
    const bodies = bodiesOf(options);
    const { http, log, database } = await openPort(settings, options, started, bodies);
    started.add(() => settings.stopOthers?.() ?? Promise.resolve());
    let createCurrent = () => {};
    let workspaceId = options.workspaceId;
    const agent = await startAgent({
      settings: options,
      log,
      project,
      database,
      dataDir: settings.dataDir,
      internalUrl: http.url,
      reload: options.reload,
      // for a deployment only its address counts: the gateway in front of it is its trusted proxy
      openLoopback:
        !judgeExposure(options, settings.host).keysNeeded ||
        (options.authUrl !== undefined && isLoopback(settings.host) && options.auth !== "required"),
      traces: settings.traces,
      claim: async () => (workspaceId = await claimForWorkspace(database, { settings: options, log })),
      onProject: () => createCurrent(),
      onGraphs(loaded) {
        graphs.resolve(loaded);
        settings.onGraphs?.(loaded);
      },
    });
    started.add(() => agent.stop());
    const { sql } = agent.deps;
    const { keyring } = await openSecrets({ sql, log, dataDir: settings.dataDir, settings: options });
    const who = { host: settings.host, ofOneWorkspace: true, sealKey: sealKeyOf(keyring.newest) };
    const identity = await openIdentity({ sql, log, settings: { ...options, workspaceId }, ...who });
    started.add(() => identity.stop());
    const reach = reachOf(identity, settings.host);
    const createApp = () => createAgentApp(agent.deps, { ...identity.guard, bodies }, settings.worker, reach);
    let app = createApp();
    createCurrent = () => (app = createApp());
    answer(http, (request, env) => app.fetch(request, env), agentPages(agent.deps, reach), started);
    const { warnings } = project;
    const { sendTracesTo } = agent;
    const hasOwnAuth = project.config.auth?.path !== undefined;
    const server = running(http, database, identity, started);
    return { ...server, graphs: graphs.promise, warnings, hasOwnAuth, sendTracesTo };
  });
}

/** Starts a trace server. Resolves when requests are answered. */
export function startTraceServer(settings: TraceServerSettings): Promise<RunningServer> {
  const started = new Started();
  return started.orStop(async () => {
    const options = readOptions({ ...traceOptions, ...identityOptions, ...secretsOptions }, process.env);
    const bodies = bodiesOf(options);
    const { http, log, database } = await openPort(settings, options, started, bodies);
    const { host, dataDir, tracingKey } = settings;
    const platform = await startTracePlatform({ settings: options, log, database, dataDir, host });
    started.add(() => platform.stop());
    const { sql, secrets } = platform.deps;
    const who = { host, ofOneWorkspace: false, sealKey: sealKeyOf(secrets.keyring.newest), tracingKey };
    const identity = await openIdentity({ sql, log, settings: options, ...who });
    started.add(() => identity.stop());
    const reach = reachOf(identity, host);
    const app = createTraceApp(platform.deps, { ...identity.guard, bodies }, reach);
    answer(http, app.fetch, tracePages(platform.deps, reach), started);
    return running(http, database, identity, started);
  });
}

/** Starts a control plane. Resolves when requests are answered; earlier deployments may still be starting. */
export function startControlServer(settings: ControlServerSettings): Promise<RunningControlServer> {
  const started = new Started();
  return started.orStop(async () => {
    const options = readOptions({ ...controlOptions, ...identityOptions, ...secretsOptions }, process.env);
    const bodies = bodiesOf(options);
    const { http, log, database } = await openPort(settings, options, started, bodies);
    const { host, dataDir, launcher, traces } = settings;
    started.add(() => settings.stopOthers?.() ?? Promise.resolve());
    const common = { settings: options, log, database, dataDir };
    const control = await startControlPlane({
      ...common,
      internalUrl: http.url,
      keysNeeded: judgeExposure(options, host).keysNeeded,
      launcher,
      traces,
    });
    started.add(() => control.stop());
    const { sql, secrets, table } = control.deps;
    const sealKey = sealKeyOf(secrets.keyring.newest);
    const settingsHere = { ...options, besideDeployments: true };
    const identity = await openIdentity({ sql, log, settings: settingsHere, host, ofOneWorkspace: false, sealKey });
    started.add(() => identity.stop());
    const mayPass = createCredentialRule(identity.guard.authenticator, identity.keysNeeded);
    const gateway = new Gateway({ table, log, settings: options, mayPass, mustShowKey: identity.mustShowKey });
    started.add(() => Promise.resolve(gateway.close()));
    const reach = reachOf(identity, host);
    answer(
      http,
      createControlApp(control.deps, { ...identity.guard, bodies }, reach).fetch,
      controlPages(control.deps, reach, (request) => gateway.owns(request as IncomingMessage)),
      started,
      inOrder(gateway, openRegistry(control.deps)),
    );
    const { driver } = control.deps;
    const isolation = driver.kind === "process" ? (driver.isolation?.explanation ?? null) : null;
    return { ...running(http, database, identity, started), isolation };
  });
}

/** Starts the console. Resolves when requests are answered. It has no database and no callers' identities. */
export async function startConsole(settings: ConsoleServerSettings): Promise<{ url: string; close(): Promise<void> }> {
  const options = readOptions({ ...consoleOptions, ...identityOptions }, process.env);
  const keysNeeded = settings.keysNeeded ?? judgeExposure(options, settings.host).keysNeeded;
  const { besideDeployments, logLevel } = options;
  const log = createLog(logLevel);
  return await startConsoleServer({ ...settings, keysNeeded, besideDeployments, settings: options, log });
}

let processBodies: BodyGate | undefined;

/** Returns the body budget of the process: its roles share memory, and so the budget of the first that starts. */
const bodiesOf = (options: BodySettings): BodyGate => (processBodies ??= new BodyGate(options));

/** Binds the port first: when it is in use, or must not be exposed, nothing else was touched. */
async function openPort(
  settings: ServerSettings,
  options: ExposureSettings & ListenSettings & EmbeddedPostgresSettings & { logLevel: string },
  started: Started,
  bodies: BodyGate,
): Promise<{ http: HttpServer; log: Log; database: DatabaseAddress }> {
  judgeExposure(options, settings.host);
  const log = createLog(options.logLevel);
  const forget = surviveShortages(log);
  started.add(async () => forget());
  const http = await listenHttp(settings.host, settings.port, options, bodies);
  started.add(() => http.close());
  const { database: given, dataDir } = settings;
  if (typeof given === "object") return { http, log, database: given };
  const database = await openDatabase({ dataDir, uri: given, log, settings: options });
  started.add(() => database.close());
  // a second time, because connections end before the database does
  started.add(() => http.close());
  return { http, log, database: database.address };
}

const reachOf = ({ exposure }: { exposure: Exposure }, host: string): Reach => ({
  keyless: !exposure.keysNeeded,
  onLoopback: isLoopback(host),
});

function answer(http: HttpServer, fetch: Hono["fetch"], pages: BrowserPolicy, started: Started, ahead?: Ahead): void {
  http.serve(fetch, pages, ahead);
  started.add(() => {
    void http.stopListening();
    return Promise.resolve();
  });
}

const running = (http: HttpServer, database: DatabaseAddress, identity: Identity, started: Started): RunningServer => ({
  url: http.url,
  keysNeeded: identity.keysNeeded,
  access: identity.exposure.explanation,
  firstKey: identity.firstKey,
  database,
  close: () => started.stop(),
});
