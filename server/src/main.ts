/**
 * Entries of the roles that a process can run: each reads the environment, starts its servers, and stops what it had
 * started when that fails. A role's modules are loaded when it is started: those of all roles take 0.5 s and 15 MB.
 */
import { readOptions } from "./base/config/options.ts";
import { recordRole } from "./base/installed-roles.ts";
import { createLog } from "./base/log.ts";
import { Started } from "./base/started.ts";
import { startConsoleServer } from "./console/console-server.ts";
import { consoleOptions } from "./console/settings.ts";
import type { SpaceUrls } from "./console/space-proxy.ts";
import { resolveExposure } from "./identity/exposure.ts";
import { identityOptions } from "./identity/settings.ts";
import type { AgentServerSettings, RunningAgentServer } from "./roles/agent-role.ts";
import type { ControlServerSettings, RunningControlServer } from "./roles/control-role.ts";
import type { ListenerSettings } from "./roles/listener-role.ts";
import type { RunningServer, ServerSettings } from "./roles/running-server.ts";
import type { TraceServerSettings } from "./roles/trace-role.ts";

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
export async function startAgentServer(settings: AgentServerSettings): Promise<RunningAgentServer> {
  const started = new Started();
  // as it is now: the import takes a moment
  const env = { ...process.env };
  const { openAgentServer } = await import("./roles/agent-role.ts");
  const server = await started.orStop(() => openAgentServer(settings, env, started));
  recordRole(settings.dataDir, settings.worker ? "worker" : "agent");
  return server;
}

/** Starts a trace server. Resolves when requests are answered. */
export async function startTraceServer(settings: TraceServerSettings): Promise<RunningServer> {
  const started = new Started();
  // as it is now: the import takes a moment
  const env = { ...process.env };
  const { openTraceServer } = await import("./roles/trace-role.ts");
  const server = await started.orStop(() => openTraceServer(settings, env, started));
  recordRole(settings.dataDir, "trace");
  return server;
}

/** Starts a control plane. Resolves when requests are answered; earlier deployments may still be starting. */
export async function startControlServer(settings: ControlServerSettings): Promise<RunningControlServer> {
  const started = new Started();
  // as it is now: the import takes a moment
  const env = { ...process.env };
  const { openControlServer } = await import("./roles/control-role.ts");
  const server = await started.orStop(() => openControlServer(settings, env, started));
  recordRole(settings.dataDir, "control");
  return server;
}

/** Starts a listener, which runs the deployments of a remote control plane in a Kubernetes cluster. */
export async function startListener(settings: ListenerSettings): Promise<{ stop(): Promise<void> }> {
  const env = { ...process.env };
  const { openListener } = await import("./roles/listener-role.ts");
  return openListener(settings, env);
}

/** Starts a standalone gateway. Resolves when requests are forwarded. */
export async function startGatewayServer(settings: ServerSettings): Promise<RunningServer> {
  const started = new Started();
  // as it is now: the import takes a moment
  const env = { ...process.env };
  const { openGatewayServer } = await import("./roles/gateway-role.ts");
  const server = await started.orStop(() => openGatewayServer(settings, env, started));
  recordRole(settings.dataDir, "gateway");
  return server;
}

/** Starts the console. Resolves when requests are answered. It has no database and no callers' identities. */
export async function startConsole(settings: ConsoleServerSettings): Promise<{ url: string; close(): Promise<void> }> {
  const options = readOptions({ ...consoleOptions, ...identityOptions }, process.env);
  const keysNeeded = settings.keysNeeded ?? resolveExposure(options, settings.host).keysNeeded;
  const { besideDeployments, logLevel } = options;
  const log = createLog(logLevel);
  return await startConsoleServer({ ...settings, keysNeeded, besideDeployments, settings: options, log });
}
