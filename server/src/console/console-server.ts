/**
 * Serves the built console to browsers and proxies its requests to the spaces behind it. Stateless: it has no sessions,
 * no database and no callers' identities.
 */
import type { IncomingMessage, ServerResponse } from "node:http";

import sirv, { type RequestHandler } from "sirv";

import { type HealthReport, LIVE } from "../base/health.ts";
import { openPeerCheck } from "../base/http/confined-peers.ts";
import { type HttpServer, listenHttp } from "../base/http/http-server.ts";
import type { Log } from "../base/log.ts";
import { readVersion } from "../base/version.ts";
import { AppPage, sendDocument } from "./app-page.ts";
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
 * Everything is limited to this origin; images in messages arrive as data URLs.
 * @param nonce of the styles that the application's scripts add
 */
const policy = (ancestors: readonly string[], nonce?: string): string =>
  [
    "default-src 'self'",
    `style-src 'self'${nonce === undefined ? "" : ` 'nonce-${nonce}'`}`,
    "img-src 'self' data: blob:",
    "media-src 'self' data: blob:",
    "font-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    `frame-ancestors ${ancestors.join(" ") || "'none'"}`,
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
  let serve: ReturnType<typeof serveFiles> | undefined;
  const { embedOrigins } = settings;
  const prefix = new URL(settings.consoleUrl).pathname.replace(/\/+$/, "");
  const ofFiles = policy(embedOrigins);
  const handle = (request: IncomingMessage, response: ServerResponse): boolean => {
    response.setHeader("x-content-type-options", "nosniff");
    // older browsers know no list of origins
    if (embedOrigins.length === 0) response.setHeader("x-frame-options", "DENY");
    if (prefix !== "" && pathOf(request) === prefix) return redirect(response, `${prefix}/`);
    removePrefix(request, prefix);
    if (proxy.handle(request, response)) return true;
    if (request.method !== "GET" && request.method !== "HEAD") return respond(response, 405, "Only GET and HEAD.");
    const path = pathOf(request);
    if (path === "/console.json") return describe(response, spaces);
    const directory = files();
    if (path === "/livez") return sayHealth(response, LIVE);
    if (path === "/readyz") return sayHealth(response, readiness(directory));
    if (directory === null) {
      response.setHeader("refresh", "2");
      return respond(response, 503, "The console is being built. This page will load again by itself.");
    }
    try {
      serve ??= serveFiles(directory, prefix, embedOrigins);
    } catch (error) {
      log.error({ err: error }, "the files of the console cannot be read");
      return respond(response, 503, "The files of the console cannot be read; see the server's log.");
    }
    // a server may ignore ranges (RFC 9110 §14.2); the library throws for those that end before they begin
    delete request.headers.range;
    response.setHeader("content-security-policy", ofFiles);
    response.setHeader("referrer-policy", "no-referrer");
    serve(request, response, () => void respond(response, 404, NO_PAGE));
    return true;
  };
  const isFramed = embedOrigins.length > 0;
  const pages = { keyless: !keysNeeded, hosts: new Set(settings.allowedHosts), allows: () => false, isFramed };
  http.serve(() => new Response(null, { status: 404 }), pages, {
    handle,
    upgrade(request, socket, head) {
      removePrefix(request, prefix);
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

/** First segments of the paths of the application's pages (console/src/routes). */
export const PAGES =
  "a alerts annotation-queues authorize budgets compare components dashboards datasets deployments evaluators experiments exports hub o playground projects prompts public rules settings sign-in".split(
    " ",
  );
const PAGE = new RegExp(`^/(?:${PAGES.join("|")})(?:/|$)`);

/**
 * Serves the console's files, and the application's page at the paths of its pages and to browsers at any path, where
 * the application says that there is no such page. Anything else is not found: a client of an API that has the
 * console's URL must not get a page with status 200. Asset names contain their hash.
 */
function serveFiles(directory: string, prefix: string, embedOrigins: readonly string[]): RequestHandler {
  const page = new AppPage(directory, prefix);
  const common = { brotli: true, gzip: true, etag: true };
  const assets = sirv(directory, { ...common, immutable: true, maxAge: 31_536_000 });
  const setHeaders = (response: ServerResponse) => void response.setHeader("cache-control", "no-cache");
  const files = sirv(directory, { ...common, setHeaders });
  return (request, response, next) => {
    if (request.url!.startsWith("/assets/")) return assets(request, response, next);
    const open = () =>
      page.send(response, (nonce) => response.setHeader("content-security-policy", policy(embedOrigins, nonce)));
    const path = pathOf(request);
    if (prefix !== "" && sendDocument(directory, prefix, path, response)) return;
    if (path === "/" || path === "/index.html") return open();
    files(request, response, () => (isForPage(request) ? open() : next?.()));
  };
}

const pathOf = ({ url = "/" }: IncomingMessage): string => url.split("?", 1)[0]!;

/** Removes the console's prefix, if the proxy in front has left it. */
function removePrefix(request: IncomingMessage, prefix: string): void {
  if (prefix !== "" && request.url?.startsWith(`${prefix}/`)) request.url = request.url.slice(prefix.length);
}

/** Browsers name HTML in the `Accept` of a navigation; clients of an API do not. */
function isForPage(request: IncomingMessage): boolean {
  const { accept = "*/*" } = request.headers;
  return accept.includes("text/html") || (accept.includes("*/*") && PAGE.test(pathOf(request)));
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

function redirect(response: ServerResponse, location: string): true {
  response.writeHead(308, { location });
  response.end();
  return true;
}

function respond(response: ServerResponse, status: number, text: string): true {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" });
  response.end(`${text}\n`);
  return true;
}
