/**
 * Bounds what connections may hold of a server's memory while nobody has shown a key on them, and what waits in
 * sockets for readers that don't read.
 *
 * A connection is unknown until a request on it was authenticated. When there are too many unknown ones, the oldest
 * that are idle or have sent half of a request are closed; one whose request is complete is being answered and stays.
 * Many clients may come at once, so a new connection has a second to show who it is, up to a higher limit.
 * A sender that pipelines requests gets a few answered at once: each may cost an answer's memory while none is read.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

import type { ConnectionSettings } from "./connection-limits.ts";

const MIB = 1024 * 1024;
/** Requests on one connection that have no answer yet. HTTP clients of today send the next one after the answer. */
const MAX_PIPELINED = 16;
/** A younger connection is closed only beyond so many times the limit. */
const GRACE_MS = 1000;
const BURST_FACTOR = 4;
/** Of connections that are looked at for one to close. */
const LOOKED_AT = 200;
const CHECK_EVERY_MS = 500;
/** Bytes that wait for readers on unknown connections, together. */
const UNKNOWN_UNREAD_BYTES = 16 * MIB;

interface Connection {
  socket: Duplex;
  since: number;
  /** Requests that have no answer yet, oldest first. */
  open: Set<IncomingMessage>;
  leave: () => void;
}

const connections = new WeakMap<object, Connection>();

/** Notes that a request on this connection was authenticated, so that it counts as unknown no longer. */
export function markKnown(socket: object | undefined): void {
  if (socket) connections.get(socket)?.leave();
}

export class ConnectionGuard {
  readonly #settings: Pick<ConnectionSettings, "maxUnknownConnections" | "maxUnreadMb">;
  readonly #all = new Set<Duplex>();
  /** Oldest first. */
  readonly #unknown = new Set<Connection>();
  readonly #timer: NodeJS.Timeout;

  constructor(server: Server, settings: Pick<ConnectionSettings, "maxUnknownConnections" | "maxUnreadMb">) {
    this.#settings = settings;
    server.on("connection", (socket) => this.#connected(socket));
    this.#timer = setInterval(() => {
      while (this.#unknown.size > this.#settings.maxUnknownConnections && this.#closeOldest(GRACE_MS)) continue;
      this.#cutUnread();
    }, CHECK_EVERY_MS).unref();
    server.once("close", () => clearInterval(this.#timer));
  }

  /** @returns false when the connection was closed, so that there is nothing to answer */
  admit(request: IncomingMessage, response: ServerResponse): boolean {
    const { socket } = request;
    if (socket.destroyed) return false;
    const open = connections.get(socket)?.open;
    if (!open) return true;
    if (open.size >= MAX_PIPELINED) {
      ignoreRest(socket);
      socket.destroy();
      return false;
    }
    open.add(request);
    response.once("close", () => open.delete(request));
    return true;
  }

  #connected(socket: Duplex): void {
    // one that was upgraded and given back is there already
    if (connections.has(socket)) return;
    const most = BURST_FACTOR * this.#settings.maxUnknownConnections;
    if (this.#unknown.size >= most && !this.#closeOldest(0)) {
      socket.destroy();
      return;
    }
    const connection: Connection = {
      socket,
      since: performance.now(),
      open: new Set(),
      leave: () => void this.#unknown.delete(connection),
    };
    connections.set(socket, connection);
    this.#all.add(socket);
    this.#unknown.add(connection);
    socket.once("close", () => {
      this.#all.delete(socket);
      connection.leave();
    });
  }

  /** Of those that are at least so old. @returns false when there is none */
  #closeOldest(ageMs: number): boolean {
    const before = performance.now() - ageMs;
    let looked = 0;
    for (const { socket, since, open, leave } of this.#unknown) {
      if (++looked > LOOKED_AT || since > before) return false;
      const isAnswered = open.size > 0 && [...open].every(({ complete }) => complete);
      if (isAnswered) continue;
      leave();
      socket.destroy();
      return true;
    }
    return false;
  }

  /** Cuts off readers that have left the most unread, until the rest is within the limits. */
  #cutUnread(): void {
    cutLargest(
      [...this.#unknown].map(({ socket }) => socket),
      UNKNOWN_UNREAD_BYTES,
    );
    cutLargest([...this.#all], this.#settings.maxUnreadMb * MIB);
  }
}

/**
 * Node goes on to make a request and a response of each of the thousand requests that one read may bring, whatever
 * becomes of the connection. Its parser is set up anew for the next connection. Without it they are only garbage.
 */
function ignoreRest(socket: Duplex): void {
  const { parser } = socket as { parser?: { onIncoming?: unknown } | null };
  if (parser?.onIncoming) parser.onIncoming = () => 0;
}

function cutLargest(sockets: Duplex[], limit: number): void {
  let total = sockets.reduce((sum, { writableLength }) => sum + writableLength, 0);
  if (total <= limit) return;
  for (const socket of sockets.toSorted((a, b) => b.writableLength - a.writableLength)) {
    if (total <= limit) return;
    total -= socket.writableLength;
    socket.destroy();
  }
}
