/**
 * Proxy from the console's own origin to the servers behind it: `/api/agent/…`, `/api/trace/…`, `/api/control/…`. With
 * one origin, session cookies are sent and pages need no CORS rules. Nothing is buffered, and only headers of the
 * connection are removed; the server behind authorizes each request, as for any other client.
 */
import { Agent, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

import { createProxyServer } from "httpxy";

import type { PeerCheck } from "../base/http/confined-peers.ts";
import { FORWARDED_HEADER } from "../base/http/internal-headers.ts";
import { HOP_BY_HOP } from "../base/http/hop-by-hop.ts";
import { markKnown } from "../base/http/connection-guard.ts";
import { rejectUpgrade } from "../base/http/websocket.ts";
import type { Log } from "../base/log.ts";

export const SPACES = ["agent", "trace", "control"] as const;
export type Space = (typeof SPACES)[number];

/** Current URL of each space, such as `http://127.0.0.1:2024`; null while it is unavailable. */
export type SpaceUrls = Record<Space, () => string | null>;

const PATH = /^\/api\/(agent|trace|control)(?=[/?]|$)(.*)$/s;

export class SpaceProxy {
  readonly #urls: SpaceUrls;
  readonly #log: Log;
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 64 });
  readonly #proxy;

  readonly #requiresKey: PeerCheck | undefined;

  /** @param requiresKey detects programs that are rejected here, while others need no key */
  constructor(urls: SpaceUrls, log: Log, requiresKey?: PeerCheck) {
    this.#urls = urls;
    this.#log = log;
    this.#requiresKey = requiresKey;
    this.#proxy = createProxyServer({
      agent: this.#agent,
      xfwd: true,
      changeOrigin: false,
      headers: { [FORWARDED_HEADER]: "console" },
    });
  }

  /** @returns false when the path belongs to no space */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const found = this.#find(request);
    if (!found) return false;
    const { space, target, url } = found;
    if (target === null) {
      reject(response, 503, `The ${NAMES[space]} does not answer, or does not run here.`);
      return true;
    }
    void this.#judge(request.socket, (isRejected) => {
      if (response.destroyed) return;
      if (isRejected) return reject(response, 403, REJECTION);
      request.url = url;
      dropHopByHop(request, FRAMING);
      this.#proxy.web(request, response, { target }).catch((error: unknown) => {
        this.#log.debug({ err: error, space }, "a request of the console failed");
        if (response.headersSent) response.destroy();
        else reject(response, 502, `The ${NAMES[space]} could not be reached.`);
      });
    });
    return true;
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    const { target, url } = this.#find(request) ?? {};
    if (!target) return false;
    socket.on("error", () => socket.destroy());
    void this.#judge(request.socket, (isRejected) => {
      if (isRejected) return rejectUpgrade(socket, 403, REJECTION);
      if (socket.destroyed) return;
      // the server behind authenticates the connection, and ends it when it is rejected
      markKnown(socket);
      request.url = url;
      dropHopByHop(request, OF_AN_UPGRADE);
      this.#proxy.ws(request, socket as Socket, { target }, head).catch(() => socket.destroy());
    });
    return true;
  }

  /** Calls `next` synchronously when the result is known. */
  #judge(socket: Socket, next: (isRejected: boolean) => void): Promise<void> | void {
    const isRejected = this.#requiresKey?.(socket) ?? false;
    return typeof isRejected === "boolean" ? next(isRejected) : isRejected.then(next);
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Finds the space of a request, and the URL of the request there. */
  #find(request: IncomingMessage): { space: Space; target: string | null; url: string } | undefined {
    const match = PATH.exec(request.url ?? "");
    if (!match) return undefined;
    const space = match[1] as Space;
    const rest = match[2]!;
    return { space, target: this.#urls[space](), url: rest.startsWith("/") ? rest : `/${rest}` };
  }
}

const OF_AN_UPGRADE: ReadonlySet<string> = new Set(["connection", "upgrade"]);
/** Without it, Node.js would send the body of a GET as if it were the next request. */
const FRAMING: ReadonlySet<string> = new Set(["transfer-encoding"]);

/**
 * Removes the headers that concern the connection of the client. Node.js throws while it sends a body if some of them,
 * such as `Trailer`, are forwarded.
 */
function dropHopByHop({ headers }: IncomingMessage, kept: ReadonlySet<string>): void {
  for (const name of HOP_BY_HOP) if (!kept.has(name)) delete headers[name];
}

const REJECTION =
  "Deployments may not use a console that asks for no key, and neither may a program that closed its connection before " +
  "its user was found. Set HEDDLE_AUTH=required.";

const NAMES: Record<Space, string> = { agent: "agent server", trace: "trace platform", control: "control plane" };

function reject(response: ServerResponse, status: number, detail: string): void {
  response.writeHead(status, { "content-type": "application/json", ...(status === 503 && { "retry-after": "1" }) });
  response.end(JSON.stringify({ detail }));
}
