/**
 * WebSockets beside HTTP. An upgrade passes through the application as a GET request, with the same authentication and
 * limits; a route accepts it with `acceptWebSocket`. Otherwise the application's response is sent and the connection
 * closed.
 */
import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

import type { Context } from "hono";
import type { WebSocket, WebSocketServer } from "ws";

import { integer, type Options } from "../config/options.ts";
import type { BodyGate } from "./body-gate.ts";
import { type BrowserPolicy, refusePage } from "./browser-guard.ts";
import { WebSocketIntake } from "./websocket-intake.ts";

export const webSocketOptions = {
  maxWebSockets: integer({
    env: ["HEDDLE_WEBSOCKET_MAX_CONNECTIONS"],
    default: 2000,
    min: 0,
    description: "Maximum number of open WebSockets; further ones get 503.",
  }),
  maxWebSocketMessageBytes: integer({
    env: ["HEDDLE_WEBSOCKET_MAX_MESSAGE_BYTES"],
    default: 16 * 1024 * 1024,
    min: 1024,
    description: "Maximum size of a WebSocket message in bytes; a larger one closes the connection with code 1009.",
  }),
  webSocketPingSecs: integer({
    env: ["HEDDLE_WEBSOCKET_PING_SECS"],
    default: 25,
    min: 1,
    max: 3600,
    description: "Seconds between pings; a WebSocket that has not answered one when the next is due is closed.",
  }),
};

export type WebSocketSettings = Options<typeof webSocketOptions>;

/** `intake` must be notified of each handled message. */
type OnOpen = (socket: WebSocket, intake: WebSocketIntake) => void;
type Fetch = (request: Request, env: object) => Response | Promise<Response>;

interface Upgrade {
  onOpen?: OnOpen;
}

/**
 * Accepts the upgrade of this request; undefined when it is not an upgrade. `onOpen` is called once the handshake is
 * complete.
 */
export function acceptWebSocket(c: Context, onOpen: OnOpen): Response | undefined {
  const upgrade = (c.env as { upgrade?: Upgrade } | undefined)?.upgrade;
  if (!upgrade) return undefined;
  upgrade.onOpen = onOpen;
  // never sent: a Response cannot have status 101
  return new Response(null, { status: 204 });
}

export class WebSockets {
  readonly #settings: WebSocketSettings;
  readonly #gate: BodyGate;
  #server: Promise<WebSocketServer> | undefined;
  #open = new Set<WebSocket>();
  /** Upgrades that are being authenticated. */
  #opening = 0;
  #answered = new WeakSet<WebSocket>();
  #timer: NodeJS.Timeout | undefined;

  constructor(settings: WebSocketSettings, gate: BodyGate) {
    this.#settings = settings;
    this.#gate = gate;
  }

  listen(http: Server, fetch: Fetch, pages: BrowserPolicy): void {
    http.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (!isWebSocket(request)) return goOnWithout(http, request, socket, head);
      socket.on("error", () => socket.destroy());
      // browsers open a WebSocket to any origin without a preflight
      const refusal = refusePage(request, pages);
      if (refusal !== undefined) return refuseUpgrade(socket, 403, refusal);
      this.#upgrade(request, socket, head, fetch).catch(() => refuseUpgrade(socket, 500, "Internal Server Error"));
    });
  }

  /** Terminates the remaining sockets. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const socket of this.#open) socket.terminate();
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, fetch: Fetch): Promise<void> {
    const url = requestUrl(request);
    if (!url || request.method !== "GET")
      return refuseUpgrade(socket, 400, "A WebSocket handshake must be a GET request.");
    if (this.#open.size + this.#opening >= this.#settings.maxWebSockets) {
      return refuseUpgrade(socket, 503, "Too many open WebSockets. Try again later.");
    }
    const upgrade: Upgrade = {};
    const env = { incoming: request, upgrade };
    this.#opening += 1;
    const responding = (async () => fetch(new Request(url, { headers: upgradeHeaders(request, url) }), env))();
    const response = await responding.finally(() => (this.#opening -= 1));
    if (!upgrade.onOpen || !response.ok)
      return refuseUpgrade(socket, response.status, await response.text(), response.headers);
    if (socket.destroyed) return;
    const { onOpen } = upgrade;
    const server = await this.#openServer();
    server.handleUpgrade(request, socket, head, (opened) => {
      this.#track(opened);
      onOpen(opened, new WebSocketIntake(this.#gate, opened, socket));
    });
  }

  #track(socket: WebSocket): void {
    this.#open.add(socket);
    this.#answered.add(socket);
    socket.on("pong", () => this.#answered.add(socket));
    // bad frames, oversized messages: the library has already closed the socket with the right code
    socket.on("error", () => {});
    socket.once("close", () => this.#open.delete(socket));
    this.#timer ??= setInterval(() => this.#ping(), this.#settings.webSocketPingSecs * 1000).unref();
  }

  #ping(): void {
    for (const socket of this.#open) {
      if (!this.#answered.delete(socket)) socket.terminate();
      else socket.ping();
    }
  }

  #openServer(): Promise<WebSocketServer> {
    const maxPayload = this.#settings.maxWebSocketMessageBytes;
    this.#server ??= import("ws").then(
      (ws) => new ws.WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate: false, maxPayload }),
      (error: unknown) => {
        // the next upgrade tries again
        this.#server = undefined;
        throw error;
      },
    );
    return this.#server;
  }
}

const isWebSocket = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === "websocket";

/**
 * Returns the connection to the HTTP server, with the request as if no upgrade had been offered. Some clients offer
 * HTTP/2 with every request (`Upgrade: h2c`), and Node.js detaches the connection for any upgrade once the event has a
 * listener.
 */
function goOnWithout(http: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (/^(?:upgrade|http2-settings)$/i.test(rawHeaders[i]!)) continue;
    const isConnection = /^connection$/i.test(rawHeaders[i]!);
    lines.push(`${rawHeaders[i]}: ${isConnection ? "keep-alive" : rawHeaders[i + 1]}`);
  }
  socket.unshift(head);
  socket.unshift(Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"));
  http.emit("connection", socket);
}

function requestUrl({ url = "/", headers }: IncomingMessage): URL | undefined {
  try {
    return new URL(url.startsWith("/") ? `http://${headers.host ?? "localhost"}${url}` : url);
  } catch {
    return undefined;
  }
}

/**
 * Browsers cannot set headers on a WebSocket, so a key may be in the query. A page of another origin must not act with
 * its visitor's session cookie, which browsers send along.
 */
function upgradeHeaders(request: IncomingMessage, url: URL): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  const key = url.searchParams.get("x-api-key") ?? url.searchParams.get("api_key");
  if (key !== null && !headers.has("x-api-key")) headers.set("x-api-key", key);
  if (!isSameOrigin(request, url)) headers.delete("cookie");
  return headers;
}

function isSameOrigin({ headers }: IncomingMessage, url: URL): boolean {
  const { origin } = headers;
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === url.host);
}

/** Rejects an upgrade and ends the connection. */
export function refuseUpgrade(socket: Duplex, status: number, message: string, headers?: Headers): void {
  if (socket.destroyed) return;
  // an upgraded socket has no listener of the HTTP server any more: a reset would crash the process
  socket.on("error", () => socket.destroy());
  const keptLines = ["content-type", "retry-after", "www-authenticate"].flatMap((name) =>
    headers?.has(name) ? [`${name}: ${headers.get(name)}`] : [],
  );
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`, "Connection: close", ...keptLines];
  discard(socket);
  socket.end(`${lines.join("\r\n")}\r\nContent-Length: ${Buffer.byteLength(message)}\r\n\r\n${message}`);
}

const LINGER_MS = 1000;

/** Discards what a refused upgrade sends, and destroys the connection if the client does not close it. */
export function discard(socket: Duplex): void {
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once("close", () => clearTimeout(timer));
}
