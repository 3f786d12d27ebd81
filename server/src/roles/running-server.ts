import { setTimeout } from "node:timers/promises";

import type { Hono } from "hono";

import { releaseMemoryWhenIdle } from "../../../host-kit/src/idle-memory.ts";
import type { DatabaseAddress } from "../base/db/connect.ts";
import { openDatabase } from "../base/db/open-database.ts";
import type { EmbeddedPostgresSettings } from "../base/db/settings.ts";
import type { Health } from "../base/health.ts";
import { type BodyGate, type BodySettings, createBodyGate } from "../base/http/body-gate.ts";
import type { BrowserPolicy } from "../base/http/browser-guard.ts";
import { type HttpServer, listenHttp, type ListenSettings, type RequestInterceptor } from "../base/http/http-server.ts";
import { createLog, type Log } from "../base/log.ts";
import type { Started } from "../base/started.ts";
import { surviveShortages } from "../base/stray-errors.ts";
import { type Exposure, type ExposureSettings, isLoopback, resolveExposure } from "../identity/exposure.ts";
import type { Identity } from "../identity/identity.ts";
import type { Reach } from "../pages.ts";

/** Environment variables of the process. */
export type Environment = Record<string, string | undefined>;

export interface ServerSettings {
  host: string;
  /** 0 selects any free port. */
  port: number;
  dataDir: string;
  /** Postgres by URL, or one that is already running; default: the embedded one. */
  database?: string | DatabaseAddress | undefined;
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

interface OpenedServer {
  http: HttpServer;
  log: Log;
  database: DatabaseAddress;
  bodies: BodyGate;
}

type OpenSettings = ExposureSettings &
  ListenSettings &
  EmbeddedPostgresSettings &
  BodySettings & {
    logLevel: string;
  };

let processBodies: BodyGate | undefined;

/**
 * Opens what a server of any role needs. Binds the port first: when it is in use, or must not be exposed, nothing else
 * was touched. The body budget is that of the process: its roles share memory, and so the budget of the first that
 * starts.
 */
export async function openServer(
  settings: ServerSettings,
  options: OpenSettings,
  started: Started,
): Promise<OpenedServer> {
  const bodies = (processBodies ??= createBodyGate(options));
  resolveExposure(options, settings.host);
  const log = createLog(options.logLevel);
  const forget = surviveShortages(log);
  started.add(async () => forget());
  const stopReleasing = releaseMemoryWhenIdle();
  started.add(async () => stopReleasing());
  const http = await listenHttp(settings.host, settings.port, options, bodies);
  started.add(() => http.close());
  const { database: configured, dataDir } = settings;
  if (typeof configured === "object") return { http, log, database: configured, bodies };
  const database = await openDatabase({ dataDir, uri: configured, log, settings: options });
  started.add(() => database.close());
  // a second time, because connections end before the database does
  started.add(() => http.close());
  return { http, log, database: database.address, bodies };
}

export interface Served {
  fetch: Hono["fetch"];
  pages: BrowserPolicy;
  health: Health;
  settings: { drainDelaySecs: number };
  interceptor?: RequestInterceptor;
}

/** Starts to serve requests. At the stop, fails readiness for the drain delay before it closes the port. */
export function serve(
  http: HttpServer,
  { fetch, pages, health, settings, interceptor }: Served,
  started: Started,
): void {
  http.serve(fetch, pages, interceptor);
  started.add(async () => void http.stopListening());
  started.add(async () => {
    health.drain();
    if (settings.drainDelaySecs > 0) await setTimeout(settings.drainDelaySecs * 1000);
  });
}

export const findReach = ({ exposure }: { exposure: Exposure }, host: string): Reach => ({
  keyless: !exposure.keysNeeded,
  onLoopback: isLoopback(host),
});

export const describeServer = (
  { http, database }: Pick<OpenedServer, "http" | "database">,
  identity: Identity,
  started: Started,
): RunningServer => ({
  url: http.url,
  keysNeeded: identity.keysNeeded,
  access: identity.exposure.explanation,
  firstKey: identity.firstKey,
  database,
  close: () => started.stop(),
});
