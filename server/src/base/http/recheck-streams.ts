/**
 * Rechecks the key of an open event stream or WebSocket every 30 s, because it may stay open for days and the key may
 * be revoked meanwhile. A connection whose request would be rejected now is closed; on reconnecting, the client gets the
 * error. Applies to our own keys only: a project's own authentication may reject a token merely for its age.
 */
import type { IncomingMessage, ServerResponse } from "node:http";

import type { Context } from "hono";

import type { Principal } from "../auth/principal.ts";
import { AppError } from "../errors.ts";

const RECHECK_MS = 30_000;

interface Connection {
  incoming?: IncomingMessage;
  outgoing?: ServerResponse;
  /** Set for a WebSocket that was accepted. */
  upgrade?: { onOpen?: unknown };
}

/** @param ask throws 401 or 403 when the caller would be rejected now */
export function endWhenRejected(
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
      // without a database, keys cannot be checked and connections stay open
      if (error instanceof AppError && (error.status === 401 || error.status === 403)) incoming.socket.destroy();
    });
  }, everyMs);
  timer.unref();
  ending.once("close", () => clearInterval(timer));
}
