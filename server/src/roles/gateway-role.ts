import type { IncomingMessage } from "node:http";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

import { readOptions } from "../base/config/options.ts";
import type { Started } from "../base/started.ts";
import { Gateway } from "../control/gateway/gateway.ts";
import { openGateway } from "../control/gateway/open-gateway.ts";
import { gatewayRoleOptions } from "../control/gateway/role-settings.ts";
import { createGatewayApp } from "../control-app.ts";
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

const POLL_MS = 50;

/** Opens a standalone gateway: it forwards requests to deployments, and stores nothing. */
export async function openGatewayServer(
  settings: ServerSettings,
  env: Environment,
  started: Started,
): Promise<RunningServer> {
  const options = readOptions({ ...gatewayRoleOptions, ...identityOptions }, env);
  const opened = await openServer(settings, { ...options, maxBodyBytes: 0 }, started);
  const { http, log, database, bodies } = opened;
  const { host } = settings;
  const deps = await openGateway({ database, log, host: hostname(), settings: options }, started);
  const { sql, table, gatewayMetrics: metrics, health } = deps;
  const identity = await openIdentity({
    sql,
    log,
    settings: { ...options, besideDeployments: true },
    host,
    ofOneWorkspace: false,
  });
  started.add(() => identity.stop());
  const mayPass = createCredentialRule(identity.guard.authenticator, identity.keysNeeded);
  const gateway = new Gateway({ table, log, settings: options, mayPass, requiresKey: identity.requiresKey, metrics });
  started.add(async () => gateway.close());
  const reach = findReach(identity, host);
  const app = createGatewayApp({ ...deps, log, settings: options }, { ...identity.guard, bodies }, reach);
  const pages = controlPages({ settings: options }, reach, (request) => gateway.owns(request as IncomingMessage));
  started.add(async () => {
    const deadline = performance.now() + options.gatewayDrainSeconds * 1000;
    while (Object.keys(table.requests()).length > 0 && performance.now() < deadline) await sleep(POLL_MS);
  });
  serve(http, { fetch: app.fetch, pages, health, settings: options, interceptor: gateway }, started);
  return describeServer(opened, identity, started);
}
