/**
 * Serves the built console to browsers and proxies its requests to the spaces behind it. Stateless: it has no sessions,
 * no database and no callers' identities.
 */
import type { IncomingMessage, ServerResponse } from "node:http";

import { type HealthReport, LIVE } from "../base/health.ts";
import { openPeerCheck } from "../base/http/confined-peers.ts";
import { type HttpServer, listenHttp } from "../base/http/http-server.ts";
import type { Log } from "../base/log.ts";
import { readVersion } from "../base/version.ts";
import { serveFiles } from "./serve-files.ts";
import type { ConsoleSettings } from "./settings.ts";
import { SPACES, SpaceProxy, type SpaceUrls } from "./space-proxy.ts";

export interface ConsoleServerOptions {
  settings: ConsoleSettings;
  log: Log;
  host: string;
  /** 0 selects any free port. */
  port: number;
  /** Directory of the built console; null while it is being built. */
  files: () => string | null;
  spaces: SpaceUrls;
  /** Whether the servers behind require a key. */
  keysNeeded: boolean;
  /** Whether deployments run as processes on this machine. */
  besideDeployments?: boolean;
}

/**
 * Styles are set by scripts in elements' attributes; images in messages arrive as data URLs. Everything else is limited
 * to this origin.
 */
const policy = (frameAncestors: readonly string[]): string =>
  [
    "default-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "media-src 'self' data: blob:",
    "font-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    `frame-ancestors ${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(" ")}`,
  ].join("; ");

const NO_PAGE =
  "The console has no such page. It forwards /api/agent, /api/trace and /api/control to the servers; clients of these " +
  "use the servers' own URLs.";

/** Binds the port; rejects when it is in use. */
export async function startConsoleServer(options: ConsoleServerOptions): Promise<HttpServer> {
  const { settings, log, host, port, spaces, keysNeeded, besideDeployments, files } = options;
  const http = await listenHttp(host, port, settings);
  // the servers behind see this process as the caller of proxied requests
  const proxy = new SpaceProxy(spaces, log, keysNeeded || !besideDeployments ? undefined : openPeerCheck({ log }));
  const base = basePath(settings.consoleUrl);
  const contentPolicy = policy(settings.frameAncestors);
  let serve: ReturnType<typeof serveFiles> | undefined;
  const handle = (request: IncomingMessage, response: ServerResponse): boolean => {
    response.setHeader("x-content-type-options", "nosniff");
    // it cannot name the pages that may; the policy does
    if (settings.frameAncestors.length === 0) response.setHeader("x-frame-options", "DENY");
    dropBase(request, base);
    if (proxy.handle(request, response)) return true;
    if (request.method !== "GET" && request.method !== "HEAD") return respond(response, 405, "Only GET and HEAD.");
    const path = request.url?.split("?", 1)[0];
    if (path === "/console.json") return describe(response, spaces);
    const directory = files();
    if (path === "/livez") return sayHealth(response, LIVE);
    if (path === "/readyz") return sayHealth(response, readiness(directory));
    if (directory === null) {
      response.setHeader("refresh", "2");
      return respond(response, 503, "The console is being built. This page will load again by itself.");
    }
    try {
      serve ??= serveFiles(directory, base);
    } catch (error) {
      log.error({ err: error }, "the files of the console cannot be read");
      return respond(response, 503, "The files of the console cannot be read; see the server's log.");
    }
    // a server may ignore ranges (RFC 9110 §14.2); the library throws for those that end before they begin
    delete request.headers.range;
    response.setHeader("content-security-policy", contentPolicy);
    response.setHeader("referrer-policy", "no-referrer");
    serve(request, response, () => void respond(response, 404, NO_PAGE));
    return true;
  };
  const pages = { keyless: !keysNeeded, hosts: new Set(settings.allowedHosts), allows: () => false };
  http.serve(() => new Response(null, { status: 404 }), pages, {
    handle,
    upgrade(request, socket, head) {
      dropBase(request, base);
      return proxy.upgrade(request, socket, head);
    },
  });
  return {
    ...http,
    async close() {
      await http.close();
      proxy.close();
    },
  };
}

/** Returns the path of the console's public URL, without a slash at its end: empty, or `/heddle`. */
function basePath(consoleUrl: string): string {
  return URL.canParse(consoleUrl) ? new URL(consoleUrl).pathname.replace(/\/+$/, "") : "";
}

/** Removes the path below which the console is, if the proxy in front has not done so. */
function dropBase(request: IncomingMessage, base: string): void {
  const { url = "/" } = request;
  if (base === "" || !url.startsWith(base) || !/^(?:[/?]|$)/.test(url.slice(base.length))) return;
  const rest = url.slice(base.length);
  request.url = rest.startsWith("/") ? rest : `/${rest}`;
}

/** Lists the available spaces, for the application's first request. */
function describe(response: ServerResponse, spaces: SpaceUrls): true {
  const available = Object.fromEntries(SPACES.map((space) => [space, spaces[space]() !== null]));
  response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify({ version: readVersion(), spaces: available }));
  return true;
}

/** The servers behind have their own probes: without them, the console still shows which one is missing. */
function readiness(directory: string | null): HealthReport {
  if (directory !== null) return { ok: true, checks: { files: { ok: true } } };
  const reason = "the console is being built";
  return { ok: false, detail: `files: ${reason}`, checks: { files: { ok: false, reason } } };
}

function sayHealth(response: ServerResponse, report: HealthReport): true {
  response.writeHead(report.ok ? 200 : 503, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(report));
  return true;
}

function respond(response: ServerResponse, status: number, text: string): true {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" });
  response.end(`${text}\n`);
  return true;
}
