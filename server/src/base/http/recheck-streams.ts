/**
 * A stream may stay open for days, and a key may be revoked meanwhile. So the key of an open event stream or WebSocket
 * is looked at again every 30 s, and a connection whose request would be refused now is cut; a client that comes back
 * is told why. Only keys of our own: what a project's own authentication says of a token may change with its age alone.
 */
import type { IncomingMessage, ServerResponse } from "node:http";

import type { Context } from "hono";

import type { Principal } from "../auth/principal.ts";
import { AppError } from "../errors.ts";

const RECHECK_MS = 30_000;

interface Connection {
  incoming?: IncomingMessage;
  outgoing?: ServerResponse;
  /** Of a WebSocket that was accepted. */
  upgrade?: { onOpen?: unknown };
}

/** @param ask throws 401 or 403 when the caller is refused by now */
export function endWhenRefused(
  c: Context,
  response: Response,
  { actor }: Principal,
  ask: () => Promise<void>,
  everyMs = RECHECK_MS,
): void {
  if (actor.kind !== "api_key" && actor.kind !== "service_key") return;
  const { incoming, outgoing, upgrade } = (c.env ?? {}) as Connection;
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  const ending = upgrade?.onOpen ? incoming?.socket : isStream ? outgoing : undefined;
  if (!incoming || !ending || ending.destroyed) return;
  const timer = setInterval(() => {
    ask().catch((error: unknown) => {
      // without a database nothing is known, and so nothing is cut
      if (error instanceof AppError && (error.status === 401 || error.status === 403)) incoming.socket.destroy();
    });
  }, everyMs);
  timer.unref();
  ending.once("close", () => clearInterval(timer));
}
