/**
 * Bounds the memory held by unauthenticated connections, and the bytes buffered in sockets for readers that don't read.
 *
 * A connection is unknown until one of its requests was authenticated. When there are too many unknown ones, the oldest
 * that are idle or have sent only part of a request are closed; one with a complete request is being answered and
 * stays. As many clients may connect at once, a new connection has a second to authenticate, up to a higher limit. A
 * sender that pipelines requests gets only a few answered at once: each may cost a response's memory while none is
 * read.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

import type { ConnectionSettings } from "./connection-limits.ts";

const MIB = 1024 * 1024;
/** Unanswered requests on one connection. Current HTTP clients send the next request after the response. */
const MAX_PIPELINED = 16;
/** Connections younger than this are closed only beyond BURST_FACTOR times the limit. */
const GRACE_MS = 1000;
const BURST_FACTOR = 4;
/** Most connections examined in search of one to close. */
const MAX_EXAMINED = 200;
const CHECK_EVERY_MS = 500;
/** Unread bytes on all unknown connections together. */
const UNKNOWN_UNREAD_BYTES = 16 * MIB;

interface Connection {
  socket: Duplex;
  since: number;
  /** Unanswered requests, oldest first. */
  open: Set<IncomingMessage>;
  /** Called when all are answered. */
  onAnswered?: (() => void) | undefined;
  leave: () => void;
}

const connections = new WeakMap<object, Connection>();

/**
 * Calls `next` when the requests that came before on a connection are answered: answers come in the order of their
 * requests, and until then the connection is theirs. Not called for a connection that ends before.
 */
export function whenAnswered(socket: Duplex, next: () => void): void {
  const connection = connections.get(socket);
  if (!connection || connection.open.size === 0) return next();
  const onError = () => socket.destroy();
  socket.on("error", onError);
  connection.onAnswered = () => {
    socket.off("error", onError);
    // that of an idle connection
    (socket as Socket).setTimeout(0);
    if (!socket.destroyed && !socket.writableEnded) next();
  };
}

/** Marks a connection as authenticated, so that it no longer counts as unknown. */
export function markKnown(socket: object | undefined): void {
  if (socket) connections.get(socket)?.leave();
}

export class ConnectionGuard {
  readonly #settings: Pick<ConnectionSettings, "maxUnknownConnections" | "maxUnreadMb">;
  readonly #all = new Set<Duplex>();
  /** Unknown connections, oldest first. */
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

  /** @returns false when the connection was closed and needs no response */
  admit(request: IncomingMessage, response: ServerResponse): boolean {
    const { socket } = request;
    if (socket.destroyed) return false;
    const connection = connections.get(socket);
    if (!connection) return true;
    const { open } = connection;
    if (open.size >= MAX_PIPELINED) {
      ignoreRest(socket);
      socket.destroy();
      return false;
    }
    open.add(request);
    response.once("close", () => {
      open.delete(request);
      if (open.size > 0) return;
      const { onAnswered } = connection;
      connection.onAnswered = undefined;
      onAnswered?.();
    });
    return true;
  }

  #connected(socket: Duplex): void {
    // a connection that was upgraded and returned to the server is known already
    if (connections.has(socket)) return;
    const max = BURST_FACTOR * this.#settings.maxUnknownConnections;
    if (this.#unknown.size >= max && !this.#closeOldest(0)) {
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

  /** Closes the oldest unknown connection that has at least this age. @returns false when there is none */
  #closeOldest(ageMs: number): boolean {
    const before = performance.now() - ageMs;
    let examined = 0;
    for (const { socket, since, open, leave } of this.#unknown) {
      if (++examined > MAX_EXAMINED || since > before) return false;
      const isAnswered = open.size > 0 && [...open].every(({ complete }) => complete);
      if (isAnswered) continue;
      leave();
      socket.destroy();
      return true;
    }
    return false;
  }

  /** Closes the connections with the most unread bytes, until the rest is within the limits. */
  #cutUnread(): void {
    cutLargest(
      [...this.#unknown].map(({ socket }) => socket),
      UNKNOWN_UNREAD_BYTES,
    );
    cutLargest([...this.#all], this.#settings.maxUnreadMb * MIB);
  }
}

/**
 * Stops the parser. A single read may contain a thousand requests, and Node.js creates a request and a response for
 * each, whatever happens to the connection. The parser is set up again for its next connection.
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
