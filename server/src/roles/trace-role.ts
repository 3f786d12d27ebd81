import { createTraceApp } from "../trace-app.ts";
import { readOptions } from "../base/config/options.ts";
import { secretsOptions } from "../base/secrets/settings.ts";
import type { Started } from "../base/started.ts";
import { deriveSealKey } from "../identity/audit/seal.ts";
import { openIdentity } from "../identity/identity.ts";
import { identityOptions } from "../identity/settings.ts";
import { tracePages } from "../pages.ts";
import { MCP_PATH } from "../trace/mcp/paths.ts";
import { listenOtlpGrpc } from "../trace/otel/listen-otlp-grpc.ts";
import { traceOptions } from "../trace/settings.ts";
import { startTracePlatform } from "../trace/trace-platform.ts";
import { agentFigures } from "./agent-figures.ts";
import {
  describeServer,
  type Environment,
  findReach,
  openServer,
  type RunningServer,
  serve,
  type ServerSettings,
} from "./running-server.ts";

export interface TraceServerSettings extends ServerSettings {
  /** Key of the agent server that sends the traces of its runs. */
  tracingKey?: string | undefined;
  /** Opens chDB, which takes 200 MB, when the first statement needs it. */
  opensOnUse?: boolean | undefined;
}

export async function openTraceServer(
  settings: TraceServerSettings,
  env: Environment,
  started: Started,
): Promise<RunningServer> {
  const options = readOptions({ ...traceOptions, ...identityOptions, ...secretsOptions }, env);
  const opened = await openServer(settings, options, started);
  const { http, log, database, bodies } = opened;
  const { host, dataDir, tracingKey, opensOnUse } = settings;
  const platform = await startTracePlatform({
    settings: options,
    log,
    database,
    dataDir,
    host,
    opensOnUse,
    agentFigures,
  });
  started.add(() => platform.stop());
  const { sql, secrets } = platform.deps;
  const sealKey = deriveSealKey(secrets.keyring.newest);
  const common = { sql, log, settings: options, host };
  const identity = await openIdentity({ ...common, ofOneWorkspace: false, resource: MCP_PATH, sealKey, tracingKey });
  started.add(() => identity.stop());
  const reach = findReach(identity, host);
  const app = createTraceApp(platform.deps, { ...identity.guard, bodies }, reach);
  if (options.otlpGrpcPort > 0) {
    const grpc = await listenOtlpGrpc({ host, port: options.otlpGrpcPort, settings: options, log, fetch: app.fetch });
    started.add(() => grpc.close());
    started.add(async () => grpc.stopListening());
    log.info({ port: grpc.port }, "listening for OpenTelemetry traces over gRPC");
  }
  const { health } = platform.deps;
  serve(http, { fetch: app.fetch, pages: tracePages(platform.deps, reach), health, settings: options }, started);
  return describeServer(opened, identity, started);
}
