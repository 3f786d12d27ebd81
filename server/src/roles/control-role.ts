import type { IncomingMessage } from "node:http";

import { createControlApp } from "../control-app.ts";
import { readOptions } from "../base/config/options.ts";
import { chainInterceptors } from "../base/http/http-server.ts";
import { secretsOptions } from "../base/secrets/settings.ts";
import type { Started } from "../base/started.ts";
import { startControlPlane } from "../control/control-plane.ts";
import { Gateway } from "../control/gateway/gateway.ts";
import { GatewayMetrics } from "../control/gateway/gateway-metrics.ts";
import { openRegistry } from "../control/registry/open-registry.ts";
import { controlOptions } from "../control/settings.ts";
import { deriveSealKey } from "../identity/audit/seal.ts";
import { resolveExposure } from "../identity/exposure.ts";
import { openIdentity } from "../identity/identity.ts";
import { createCredentialRule } from "../identity/platform-credentials.ts";
import { identityOptions } from "../identity/settings.ts";
import { controlPages } from "../pages.ts";
import {
  describeServer,
  type Environment,
  findReach,
  openServer,
  type RunningServer,
  serve,
  type ServerSettings,
} from "./running-server.ts";

export interface ControlServerSettings extends ServerSettings {
  /** Path of bin/heddle.js, which starts agent servers. */
  launcher: string;
  /** Destination of the traces of deployments' runs; no deployment starts before it is known. */
  traces?: Promise<{ url: string; key: string } | null> | undefined;
  /** Stops other users of this server's database, which must outlive its deployments. */
  stopOthers?: () => Promise<unknown>;
}

export interface RunningControlServer extends RunningServer {
  /** Isolation of deployments that run as processes and its reason, as one sentence; null where containers run them. */
  isolation: string | null;
}

export async function openControlServer(
  settings: ControlServerSettings,
  env: Environment,
  started: Started,
): Promise<RunningControlServer> {
  const options = readOptions({ ...controlOptions, ...identityOptions, ...secretsOptions }, env);
  const opened = await openServer(settings, options, started);
  const { http, log, database, bodies } = opened;
  const { host, dataDir, launcher, traces } = settings;
  started.add(() => settings.stopOthers?.() ?? Promise.resolve());
  const control = await startControlPlane({
    settings: options,
    log,
    database,
    dataDir,
    internalUrl: http.url,
    keysNeeded: resolveExposure(options, host).keysNeeded,
    launcher,
    traces,
  });
  started.add(() => control.stop());
  const { deps } = control;
  const { sql, secrets, table, driver } = deps;
  const identity = await openIdentity({
    sql,
    log,
    settings: { ...options, besideDeployments: true },
    host,
    ofOneWorkspace: false,
    sealKey: deriveSealKey(secrets.keyring.newest),
  });
  started.add(() => identity.stop());
  const mayPass = createCredentialRule(identity.guard.authenticator, identity.keysNeeded);
  const metrics = new GatewayMetrics(deps.metrics.registry, (id) => table.knows(id));
  const gateway = new Gateway({ table, log, settings: options, mayPass, requiresKey: identity.requiresKey, metrics });
  started.add(async () => gateway.close());
  const reach = findReach(identity, host);
  const app = createControlApp(deps, { ...identity.guard, bodies }, reach);
  const pages = controlPages(deps, reach, (request) => gateway.owns(request as IncomingMessage));
  const interceptor = chainInterceptors(gateway, openRegistry(deps));
  serve(http, { fetch: app.fetch, pages, health: deps.health, settings: options, interceptor }, started);
  const runsProcesses = driver.kind === "process" && options.driver !== "kubernetes";
  const isolation = runsProcesses ? (driver.isolation?.explanation ?? null) : null;
  return { ...describeServer(opened, identity, started), isolation };
}
