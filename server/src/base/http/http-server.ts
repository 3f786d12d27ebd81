import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

import { getRequestListener, RequestError } from "@hono/node-server";

import { AppError } from "../errors.ts";
import { LIVE } from "../health.ts";
import { type BrowserPolicy, rejectPage } from "./browser-guard.ts";
import { type BodyGate, createBodyGate } from "./body-gate.ts";
import type { ClientIpSettings } from "./client-ip.ts";
import { CONTROL_CHARACTER, hasControlCharacter } from "./control-characters.ts";
import { ConnectionGuard, whenAnswered } from "./connection-guard.ts";
import { type ConnectionSettings, limitConnections, proxies, serverOptions } from "./connection-limits.ts";
import { errorResponse } from "./errors.ts";
import {
  dropUpgradeOffer,
  ignoreUpgrade,
  isHandshake,
  rejectUpgrade,
  WebSockets,
  type WebSocketSettings,
} from "./websocket.ts";

/**
 * Intercepts requests before routing, with their bodies unread. Each method returns whether it handled the request;
 * `upgrade` gets WebSocket handshakes only.
 */
export interface RequestInterceptor {
  handle(request: IncomingMessage, response: ServerResponse): boolean;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
}

/** Tries interceptors in order; the first that handles a request wins. */
export const chainInterceptors = (...interceptors: RequestInterceptor[]): RequestInterceptor => ({
  handle: (request, response) => interceptors.some((interceptor) => interceptor.handle(request, response)),
  upgrade: (request, socket, head) => interceptors.some((interceptor) => interceptor.upgrade(request, socket, head)),
});

export interface HttpServer {
  url: string;
  /** Starts to serve requests with `fetch`, and those of web pages as `pages` permits; before that they get 503. */
  serve(fetch: Parameters<typeof getRequestListener>[0], pages: BrowserPolicy, interceptor?: RequestInterceptor): void;
  /** Stops accepting connections and resolves when the existing ones have ended. */
  stopListening(): Promise<unknown>;
  /** Ends the remaining connections. */
  close(): Promise<void>;
}

export type ListenSettings = ConnectionSettings & Pick<ClientIpSettings, "trustedProxies"> & Partial<WebSocketSettings>;

const MAX_MESSAGES_MB = 256;
/**
 * Node.js 25 and newer hand the body of an offer to upgrade to its request, so that `ignoreUpgrade` would lose it. They
 * are told which offers to detach the connection for; the others are ordinary requests.
 */
const ASKS_BEFORE_UPGRADES = Number(process.versions.node.split(".")[0]) >= 25;
const UPGRADES = ASKS_BEFORE_UPGRADES ? { shouldUpgradeCallback: isHandshake } : {};

/**
 * Binds the port first, so that nothing else was touched when it is in use. Port 0 selects any free one. `bodies`
 * bounds WebSocket messages too.
 */
export async function listenHttp(
  host: string,
  port: number,
  settings: ListenSettings,
  bodies: BodyGate = createBodyGate({ bodyMemoryMb: MAX_MESSAGES_MB, maxBodyBytes: 0 }),
): Promise<HttpServer> {
  let listener: ReturnType<typeof getRequestListener> | undefined;
  let interceptor: RequestInterceptor | undefined;
  let policy: BrowserPolicy | undefined;
  const options = { ...serverOptions(settings), ...UPGRADES };
  const http = createServer(options, (request, response) => {
    // Node.js drops what was received together with such a request: a client repeats it on another connection
    if (dropUpgradeOffer(request)) response.shouldKeepAlive = false;
    if (!connections.admit(request, response)) return;
    const rejection = policy && reject(request, policy);
    if (rejection) {
      setSecurityHeaders(response);
      return void sendResponse(response, rejectionResponse(request, policy, rejection));
    }
    if (interceptor?.handle(request, response)) return;
    setSecurityHeaders(response);
    if (listener) void listener(request, response);
    else if (request.url === "/livez") {
      // long migrations must not cost the process
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(LIVE));
    } else {
      const headers = { "Retry-After": "1", "Content-Type": "application/json" };
      // clients take a response that is not JSON for a proxy's
      response.writeHead(503, headers).end('{"detail":"Starting."}');
    }
  });
  const reject = (request: IncomingMessage, pages: BrowserPolicy): { status: number; detail: string } | undefined => {
    const detail = rejectPage(request, pages);
    if (detail !== undefined) return { status: 403, detail };
    // applications reject it themselves, in the format of their errors
    if (interceptor && hasControlCharacter(request.url ?? "")) return { status: 400, detail: CONTROL_CHARACTER };
    return undefined;
  };
  limitConnections(http, settings, proxies(settings));
  const connections = new ConnectionGuard(http, settings);
  const sockets = acceptsWebSockets(settings) ? new WebSockets(settings, bodies) : undefined;
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen(port, host, resolve);
  });
  let closed: Promise<unknown> | undefined;
  const stopListening = () => (closed ??= new Promise((resolve) => http.close(resolve)));
  return {
    url: formatUrl(http, host),
    serve(fetch, pages, first) {
      interceptor = first;
      policy = pages;
      listener = getRequestListener(fetch, {
        // called for requests that the library cannot convert; the application answers its own errors
        errorHandler: (error) =>
          error instanceof RequestError
            ? errorResponse(
                pages.errors?.(undefined) ?? "detail",
                new AppError(400, `The request is malformed: ${error.message}`),
              )
            : new Response(null, { status: 500 }),
      });
      const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
        if (!isHandshake(request)) return ignoreUpgrade(http, request, socket, head);
        socket.on("error", () => socket.destroy());
        // browsers open a WebSocket to any origin without a preflight
        const rejection = reject(request, pages);
        if (rejection) {
          const response = rejectionResponse(request, pages, rejection);
          return void response.text().then((body) => rejectUpgrade(socket, rejection.status, body, response.headers));
        }
        if (first?.upgrade(request, socket, head)) return;
        if (sockets)
          sockets.upgrade(request, socket, head, fetch as Parameters<WebSockets["upgrade"]>[3], setSecurityHeaders);
        else ignoreUpgrade(http, request, socket, head);
      };
      http.on("upgrade", (request, socket, head) => whenAnswered(socket, () => upgrade(request, socket, head)));
    },
    stopListening,
    async close() {
      const ended = stopListening();
      http.closeAllConnections();
      sockets?.close();
      await ended;
    },
  };
}

/**
 * Headers of every response, whatever its origin: no content sniffing, no framing, no referrer to other sites, and no
 * scripts. A page of ours sets its own policy, which replaces this one.
 */
const SECURITY_HEADERS: [name: string, value: string][] = [
  ["X-Content-Type-Options", "nosniff"],
  ["X-Frame-Options", "DENY"],
  ["Referrer-Policy", "no-referrer"],
  ["Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"],
];

function setSecurityHeaders(response: ServerResponse): void {
  for (const [name, value] of SECURITY_HEADERS) response.setHeader(name, value);
}

/** The rejection of a page, as an error of the server's own format, to a request as well as to a WebSocket handshake. */
function rejectionResponse(
  request: IncomingMessage,
  policy: BrowserPolicy | undefined,
  { status, detail }: { status: number; detail: string },
): Response {
  const error = new AppError(status, detail, { headers: { "Cache-Control": "no-store" } });
  return errorResponse(policy?.errors?.(request.headers["user-agent"]) ?? "detail", error);
}

async function sendResponse(response: ServerResponse, sent: Response): Promise<void> {
  const body = await sent.text();
  response.writeHead(sent.status, Object.fromEntries(sent.headers)).end(body);
}

const acceptsWebSockets = <S extends Partial<WebSocketSettings>>(settings: S): settings is S & WebSocketSettings =>
  settings.maxWebSockets !== undefined;

/** Returns a reachable URL: a wildcard address becomes loopback, an IPv6 address gets brackets. */
function formatUrl(http: Server, host: string): string {
  const { address, port } = http.address() as AddressInfo;
  const name = host || address;
  if (name === "0.0.0.0" || name === "::") return `http://127.0.0.1:${port}`;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}
