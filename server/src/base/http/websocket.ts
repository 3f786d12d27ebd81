/**
 * WebSockets beside HTTP. A handshake passes through the application as a GET request, with the same authentication and
 * limits; a route accepts it with `acceptWebSocket`. Every other offer of an upgrade is ignored.
 */
import { type IncomingMessage, type Server, ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

import { getRequestListener } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context } from "hono";
import type { WebSocket, WebSocketServer } from "ws";

import { integer, type Options } from "../config/options.ts";
import type { BodyGate } from "./body-gate.ts";
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
  /** Connections of handshakes, until a route accepts them. */
  #detached = new Set<Duplex>();
  /** Upgrades that are being authenticated. */
  #opening = 0;
  #answered = new WeakSet<WebSocket>();
  #timer: NodeJS.Timeout | undefined;

  constructor(settings: WebSocketSettings, gate: BodyGate) {
    this.#settings = settings;
    this.#gate = gate;
  }

  /** Terminates the remaining sockets. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const socket of this.#open) socket.terminate();
    for (const socket of this.#detached) socket.destroy();
  }

  /**
   * Passes a handshake through the application. Where no route accepts it, sends the application's response, as if no
   * upgrade had been offered, and closes the connection.
   */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, fetch: Fetch, prepare: PrepareResponse): void {
    this.#detached.add(socket);
    socket.once("close", () => this.#detached.delete(socket));
    this.#upgrade(request, socket, head, fetch, prepare).catch(() =>
      rejectUpgrade(socket, 500, "Internal Server Error"),
    );
  }

  async #upgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    fetch: Fetch,
    prepare: PrepareResponse,
  ): Promise<void> {
    const url = requestUrl(request);
    if (!url) return rejectUpgrade(socket, 400, "Bad Request");
    if (this.#open.size + this.#opening >= this.#settings.maxWebSockets) {
      return rejectUpgrade(socket, 503, "Too many open WebSockets. Try again later.");
    }
    const upgrade: Upgrade = {};
    this.#opening += 1;
    const handle = async (env: object): Promise<Response> => {
      const response = await fetch(new Request(url, { headers: upgradeHeaders(request, url) }), { ...env, upgrade });
      return upgrade.onOpen && response.ok ? RESPONSE_ALREADY_SENT : response;
    };
    const response = responseOn(request, socket, prepare);
    await getRequestListener((_, env) => handle(env).finally(() => (this.#opening -= 1)))(request, response);
    if (!upgrade.onOpen || response.headersSent || socket.destroyed) return;
    const { onOpen } = upgrade;
    response.detachSocket(socket as Socket);
    const server = await this.#openServer();
    server.handleUpgrade(request, socket, head, (opened) => {
      this.#detached.delete(socket);
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

/** Whether a request is a WebSocket handshake (RFC 6455 §4.1). */
export const isHandshake = ({ method, headers }: IncomingMessage): boolean =>
  method === "GET" &&
  headers.upgrade?.toLowerCase() === "websocket" &&
  headers["transfer-encoding"] === undefined &&
  (headers["content-length"] ?? "0") === "0";

/**
 * Returns the connection to the HTTP server, with the request as if no upgrade had been offered (RFC 9110 §7.8). Some
 * clients offer HTTP/2 with every request (`Upgrade: h2c`), and Node.js detaches the connection for any upgrade once the
 * event has a listener.
 */
export function ignoreUpgrade(http: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name, value] = rawHeaders.slice(i, i + 2) as [string, string];
    if (!OFFER.test(name)) lines.push(`${name}: ${value}`);
  }
  const kept = keptOptions(request.headers.connection);
  if (kept !== "") lines.push(`Connection: ${kept}`);
  socket.unshift(head);
  socket.unshift(Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"));
  http.emit("connection", socket);
}

/** Removes the offer to upgrade from a request that Node.js has not detached for it. @returns whether there was one */
export function dropUpgradeOffer({ headers, rawHeaders }: IncomingMessage): boolean {
  if (headers.upgrade === undefined) return false;
  delete headers.upgrade;
  delete headers["http2-settings"];
  const kept = keptOptions(headers.connection);
  if (kept === "") delete headers.connection;
  else headers.connection = kept;
  for (let i = rawHeaders.length - 2; i >= 0; i -= 2) if (OFFER.test(rawHeaders[i]!)) rawHeaders.splice(i, 2);
  if (kept !== "") rawHeaders.push("Connection", kept);
  return true;
}

/** Headers of an offer to upgrade. */
const OFFER = /^(?:connection|upgrade|http2-settings)$/i;

/** What else the header Connection asks for. */
function keptOptions(connection = ""): string {
  const options = connection.split(",").map((option) => option.trim());
  return options.filter((option) => option !== "" && !OFFER.test(option)).join(", ");
}

type PrepareResponse = (response: ServerResponse) => void;

/** Returns a response on a connection that Node.js has detached for an upgrade. The connection ends with it. */
function responseOn(request: IncomingMessage, socket: Duplex, prepare: PrepareResponse): ServerResponse {
  const response = new ServerResponse(request);
  prepare(response);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  response.once("finish", () => {
    response.detachSocket(socket as Socket);
    discard(socket);
    socket.end();
  });
  return response;
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
export function rejectUpgrade(socket: Duplex, status: number, message: string, headers?: Headers): void {
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

/** Discards what a rejected upgrade sends, and destroys the connection if the client does not close it. */
export function discard(socket: Duplex): void {
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once("close", () => clearTimeout(timer));
}
