/**
 * Reverse proxy to the instances of the serving revision: for `/d/<deployment>/…`, and for `<deployment>.<domain>`
 * where the operator has configured a domain for deployments. Bytes are streamed in both directions without a separate
 * time limit; when the caller disconnects, the upstream request is aborted. A request that an instance never received,
 * because it was just restarting, waits and is retried on the next instance.
 *
 * Authorization is up to the agent servers behind: they ask the platform, or apply the project's own rules.
 */
import { Agent, type ClientRequest, type IncomingMessage, request as send, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

import { AppError } from "../../base/errors.ts";
import { type ClientIpSettings, normalizeAddress, matchNetworks } from "../../base/http/client-ip.ts";
import type { PeerCheck } from "../../base/http/confined-peers.ts";
import { markKnown } from "../../base/http/connection-guard.ts";
import { discard } from "../../base/http/websocket.ts";
import type { Log } from "../../base/log.ts";
import type { CredentialRule } from "../../identity/platform-credentials.ts";
import { headersFromDeployment, upgradeHeaders } from "./response-headers.ts";
import type { GatewayMetrics, ObservedRequest } from "./gateway-metrics.ts";
import { headersForDeployment, pathForDeployment } from "./request-headers.ts";
import type { Reached, RouteTable, Target } from "./route-table.ts";
import { type RouteMatch, matchHost, matchPath } from "./route-match.ts";

/** Time to open a connection to an instance on another machine. */
const CONNECT_MS = 3_000;
const CONNECT_LATE = "HEDDLE_CONNECT_LATE";

export interface GatewayOptions {
  table: RouteTable;
  log: Log;
  /** Decides which of the platform's keys and session tokens are forwarded to deployments; absent: all of them. */
  mayPass?: CredentialRule;
  /**
   * Distinguishes deployments from other programs of this machine, which need no key; absent where all callers need
   * one.
   */
  requiresKey?: PeerCheck | undefined;
  metrics?: GatewayMetrics | undefined;
  settings: { gatewayHoldSeconds: number; gatewayDomain: string | undefined } & Pick<
    ClientIpSettings,
    "trustedProxies"
  >;
}

export class Gateway {
  readonly #options: GatewayOptions;
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 256, timeout: 30_000 });

  readonly #joined = new Set<Duplex>();
  readonly #isTrusted: (address: string) => boolean;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#isTrusted = matchNetworks(options.settings.trustedProxies);
  }

  #match(request: IncomingMessage): RouteMatch | null {
    const { gatewayDomain: domain } = this.#options.settings;
    if (domain === undefined) return matchPath(request.url ?? "");
    const forwarded = this.#isFromProxy(request) ? request.headers["x-forwarded-host"] : undefined;
    return matchHost(domain, String(forwarded ?? request.headers.host ?? ""), request.url ?? "");
  }

  /** Whether a request is for a deployment, whose own server decides about pages of other origins. */
  owns(request: Pick<IncomingMessage, "url" | "headers" | "socket">): boolean {
    return this.#match(request as IncomingMessage) !== null;
  }

  /** Whether forwarding headers of the request are trusted. */
  #isFromProxy({ socket }: IncomingMessage): boolean {
    return this.#isTrusted(normalizeAddress(socket.remoteAddress ?? "") ?? "0.0.0.0");
  }

  /** @returns false when the request is not for a deployment */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const match = this.#match(request);
    if (!match) return false;
    const observed = this.#observe(match);
    response.once("close", observed.ended);
    this.#handle(request, response, match, observed).catch((error: unknown) => {
      if (!(error instanceof AppError)) this.#options.log.error({ err: error }, "a request to a deployment failed");
      if (!response.headersSent) observed.answered(error instanceof AppError ? error.status : 502, false);
      sendError(response, error instanceof AppError ? error : new AppError(502, "The deployment is unreachable."));
    });
    return true;
  }

  #observe({ slug }: RouteMatch): ObservedRequest {
    const { metrics, table } = this.#options;
    return metrics?.begin(slug === null ? undefined : table.find(slug)?.deploymentId) ?? UNOBSERVED;
  }

  async #handle(
    request: IncomingMessage,
    response: ServerResponse,
    match: RouteMatch,
    observed: ObservedRequest,
  ): Promise<void> {
    const disconnected = new AbortController();
    response.once("close", () => disconnected.abort());
    const open = await this.#prepare(request, match);
    await this.#attempt(match, disconnected.signal, (instance, leave) =>
      this.#forward(request, response, match, open(instance), leave, observed),
    );
  }

  /** Returns a function that opens the request to an instance. */
  async #prepare(request: IncomingMessage, match: RouteMatch): Promise<Open> {
    const { tenantId: workspaceId } = this.#find(match);
    // a service worker would intercept requests between the platform's origin and its pages
    if (match.prefix !== "" && request.headers["service-worker"] !== undefined) {
      throw new AppError(
        403,
        "Deployments that are served under a path cannot register service workers. Set HEDDLE_GATEWAY_DOMAIN.",
      );
    }
    // An agent server rejects its metrics to forwarded requests itself; other servers that an image may contain do not.
    if (isMetrics(match.path)) throw new AppError(404, "The gateway does not serve the metrics of deployments.");
    const { mayPass = () => true, requiresKey } = this.#options;
    // through this gateway, a deployment's request would appear to its neighbour as the platform's
    if (await requiresKey?.(request.socket)) {
      throw new AppError(
        403,
        "Deployments cannot call each other on a platform that requires no keys. Set HEDDLE_AUTH=required and " +
          "pass the caller a key.",
      );
    }
    const isFromProxy = this.#isFromProxy(request);
    const context = { match, workspaceId, mayPass, isFromProxy };
    const headers = await headersForDeployment(request, context);
    const path = await pathForDeployment(match.path, context);
    const { method } = request;
    return ({ host, port }, agent) => {
      const sent = send({ host: host ?? "127.0.0.1", port, method, path, headers, agent: agent ?? this.#agent });
      if (host !== null) limitConnecting(sent);
      return sent;
    };
  }

  #find({ slug, shown }: RouteMatch): Target {
    const target = slug === null ? undefined : this.#options.table.find(slug);
    if (!target || target.isBeingDeleted) throw new AppError(404, `There is no deployment at ${shown}.`);
    return target;
  }

  /** Tries instances until one accepts the request; waits for one within the time that requests are held. */
  async #attempt(
    match: RouteMatch,
    disconnected: AbortSignal,
    forward: (instance: Reached, leave: () => void) => Promise<"done" | "refused">,
  ): Promise<void> {
    const { table, settings } = this.#options;
    const deadline = performance.now() + settings.gatewayHoldSeconds * 1000;
    let rejected = new Set<string>();
    while (!disconnected.aborted) {
      const target = this.#find(match);
      const instance = table.pick(target, rejected);
      if (instance) {
        const leave = table.enter(instance.id);
        if ((await forward(instance, leave)) === "done") return;
        leave();
        rejected.add(instance.id);
        continue;
      }
      const left = deadline - performance.now();
      if (!target.hasServed) throw notReady("This deployment has no deployed revision yet.");
      if (left <= 0) throw notReady("No instance of this deployment is ready. Try again later.");
      await table.change(Math.min(left, 250));
      rejected = new Set();
    }
  }

  /** Forwards a request to one instance. `refused`: nothing listened, so no part of the request was sent anywhere. */
  #forward(
    request: IncomingMessage,
    response: ServerResponse,
    match: RouteMatch,
    upstream: ClientRequest,
    leave: () => void,
    observed: ObservedRequest,
  ): Promise<"done" | "refused"> {
    return new Promise((resolve, reject) => {
      let hasBegun = false;
      upstream.on("socket", (socket) => {
        const begin = () => {
          hasBegun = true;
          request.pipe(upstream);
        };
        if (socket.connecting) socket.once("connect", begin);
        else begin();
      });
      upstream.on("response", (answered) => {
        observed.answered(answered.statusCode!, isEventStream(answered));
        if (!writeHead(answered, response, match)) {
          upstream.destroy();
          return fail(new AppError(502, "The deployment's response has an invalid status line."));
        }
        passOn(answered, response);
        answered.on("error", () => response.destroy());
        answered.on("aborted", () => response.destroy());
      });
      upstream.on("error", (error: NodeJS.ErrnoException) => {
        if (!hasBegun && UNREACHABLE.has(error.code ?? "")) {
          response.off("close", onClose);
          return resolve("refused");
        }
        fail(new AppError(502, "The deployment closed the connection before it responded.", { cause: error }));
      });
      // an upgrade that was not requested ends without an error
      upstream.on("upgrade", (_, behind) => {
        behind.destroy();
        fail(new AppError(502, "The deployment answered with an upgrade that was not requested."));
      });
      const fail = (error: AppError) => {
        leave();
        if (response.destroyed || response.writableEnded) return resolve("done");
        if (response.headersSent) {
          response.destroy();
          return resolve("done");
        }
        reject(error);
      };
      const onClose = () => {
        leave();
        upstream.destroy();
        resolve("done");
      };
      response.once("close", onClose);
    });
  }

  /** Handles WebSocket and other protocol upgrades. @returns false when the request is not for a deployment */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    const match = this.#match(request);
    if (!match) return false;
    socket.on("error", () => socket.destroy());
    const disconnected = new AbortController();
    const observed = this.#observe(match);
    this.#joined.add(socket);
    socket.once("close", () => {
      observed.ended();
      this.#joined.delete(socket);
      disconnected.abort();
    });
    const early = readEarly(socket, head);
    const run = async () => {
      const open = await this.#prepare(request, match);
      const join = (instance: Reached, leave: () => void) =>
        this.#join(request, socket, early, match, open(instance, false), leave, observed);
      await this.#attempt(match, disconnected.signal, join);
    };
    run().catch((error: unknown) => {
      const { status, message } =
        error instanceof AppError ? error : new AppError(502, "The deployment is unreachable.");
      const body = JSON.stringify({ detail: message });
      observed.answered(status, false);
      early();
      discard(socket);
      socket.end(
        `HTTP/1.1 ${status} ${status === 401 ? "Unauthorized" : "Error"}\r\nContent-Type: application/json\r\n` +
          `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
      );
    });
    return true;
  }

  #join(
    request: IncomingMessage,
    socket: Duplex,
    early: () => Buffer,
    match: RouteMatch,
    upstream: ClientRequest,
    leave: () => void,
    observed: ObservedRequest,
  ): Promise<"done" | "refused"> {
    return new Promise((resolve, reject) => {
      upstream.setHeader("connection", "Upgrade");
      upstream.setHeader("upgrade", request.headers.upgrade ?? "websocket");
      // including a caller that disconnects before the answer
      socket.once("close", () => upstream.destroy());
      upstream.on("upgrade", (answered, behind, behindHead) => {
        markKnown(socket);
        observed.answered(101, true);
        socket.write(`HTTP/1.1 101 Switching Protocols\r\n${rawLines(upgradeHeaders(answered.rawHeaders, match))}\r\n`);
        socket.write(behindHead);
        behind.write(early());
        behind.on("error", () => socket.destroy());
        behind.once("close", () => {
          leave();
          socket.destroy();
          resolve("done");
        });
        socket.once("close", () => behind.destroy());
        behind.pipe(socket);
        socket.pipe(behind);
      });
      upstream.on("response", (answered) => {
        early();
        observed.answered(answered.statusCode!, false);
        // without an upgrade, the connection's end delimits the body, because its framing was removed here
        const headers = [...headersFromDeployment(answered, match), "Connection", "close"];
        socket.write(`HTTP/1.1 ${answered.statusCode} ${answered.statusMessage}\r\n${rawLines(headers)}\r\n`);
        answered.pipe(socket);
        answered.once("close", () => {
          leave();
          resolve("done");
        });
      });
      upstream.on("error", (error: NodeJS.ErrnoException) => {
        if (UNREACHABLE.has(error.code ?? "")) return resolve("refused");
        leave();
        reject(error);
      });
      upstream.end();
    });
  }

  /** Closes upgraded connections, which the HTTP server no longer tracks. */
  close(): void {
    this.#agent.destroy();
    for (const socket of this.#joined) socket.destroy();
  }
}

/** Writes the head of a deployment's response. Returns false when Node.js would read, but not write its status line. */
function writeHead(answered: IncomingMessage, response: ServerResponse, match: RouteMatch): boolean {
  try {
    response.writeHead(answered.statusCode!, answered.statusMessage, headersFromDeployment(answered, match));
    return true;
  } catch {
    // it was stored before it was checked
    response.statusMessage = "";
    return false;
  }
}

/**
 * Sends the headers and the data that arrived with them in one packet, because writes dominate the cost. A stream may
 * stay silent for long, so headers alone are flushed in the same turn of the event loop.
 */
function passOn(answered: IncomingMessage, response: ServerResponse): void {
  const alone = setImmediate(() => response.flushHeaders());
  const together = () => clearImmediate(alone);
  answered.once("data", together).once("end", together).once("close", together);
  answered.pipe(response);
}

/** Opens the request to an instance. */
type Open = (instance: Reached, agent?: false) => ClientRequest;

/** Error codes of connections that were never opened: no part of the request was sent. */
const UNREACHABLE = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND", "EAI_AGAIN", CONNECT_LATE]);

/** Destroys a request whose connection is not opened in time, such as to a pod on a lost node. */
function limitConnecting(sent: ClientRequest): void {
  sent.on("socket", (socket) => {
    if (!socket.connecting) return;
    const late = Object.assign(new Error("the instance did not accept the connection in time"), { code: CONNECT_LATE });
    const timer = setTimeout(() => sent.destroy(late), CONNECT_MS);
    socket.once("connect", () => clearTimeout(timer)).once("close", () => clearTimeout(timer));
  });
}

const UNOBSERVED: ObservedRequest = { answered: () => {}, ended: () => {} };

const isEventStream = ({ headers }: IncomingMessage): boolean =>
  headers["content-type"]?.startsWith("text/event-stream") ?? false;

const EARLY_BYTES = 64 * 1024;

/**
 * Reads from a caller before the upgrade is accepted: a disconnect would go unnoticed otherwise.
 * @returns a function that stops reading and returns the data so far
 */
function readEarly(socket: Duplex, head: Buffer): () => Buffer {
  const chunks = [head];
  let bytes = head.length;
  const onData = (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > EARLY_BYTES) socket.pause();
  };
  const onEnd = () => socket.destroy();
  socket.on("data", onData).once("end", onEnd);
  return () => {
    socket.off("data", onData).off("end", onEnd);
    return Buffer.concat(chunks);
  };
}

const notReady = (message: string): AppError => new AppError(503, message, { headers: { "Retry-After": "1" } });

const rawLines = (raw: string[]): string =>
  raw.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${raw[index + 1]!}\r\n`] : [])).join("");

function sendError(response: ServerResponse, error: AppError): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const body = JSON.stringify({ detail: error.message });
  // a page of another origin has to be able to read the reason
  response.writeHead(error.status, {
    "Content-Type": "application/json",
    "Access-Control-Allow-Origin": "*",
    ...error.headers,
  });
  response.end(body);
}

/** Whether a path is that of metrics, once a server has resolved its dot segments and encodings. */
function isMetrics(path: string): boolean {
  try {
    return /^\/+metrics\/*$/.test(decodeURIComponent(new URL(`http://host${path}`).pathname));
  } catch {
    return false;
  }
}
