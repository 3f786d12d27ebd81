import type { Context, MiddlewareHandler, Next } from "hono";

import type { Authenticator } from "../../base/auth/principal.ts";
import { clientIp } from "../../base/http/client-ip.ts";
import type { Log } from "../../base/log.ts";
import type { Decision, RateLimits } from "./rate-limits.ts";
import { rateLimitHeaders, reject, rejectingUse } from "./rejection.ts";

/** Header naming the row that would have rejected, in a dry run. */
const DRY_RUN_HEADER = "X-Heddle-Rate-Limit-Dry-Run";
/** Interval in milliseconds between log lines per row; each line has the count of rejections since the last. */
const LOG_EVERY_MS = 10_000;

/**
 * Creates the middleware in two parts: `preflights` counts OPTIONS and runs before CORS, which responds to them;
 * `requests` counts all others and runs after it, so that scripts in browsers can read a rejection.
 */
export function limitRequests(
  limits: RateLimits,
  authenticator: Authenticator,
  log: Log,
): { preflights: MiddlewareHandler; requests: MiddlewareHandler } {
  const note = logRejections(log, limits.mode === "dry-run");

  async function limit(c: Context, next: Next): Promise<Response | void> {
    const { method, path, raw } = c.req;
    const ip = clientIp(c);
    const decision = await limits.decide({ method, path, headers: raw.headers, ip }, authenticator);
    const rejecting = decision.allowed ? undefined : rejectingRow(decision);
    if (rejecting) {
      note(rejecting.name, ip);
      if (limits.mode === "on") return reject(method, decision.path, decision.uses, rejecting);
      c.res.headers.set(DRY_RUN_HEADER, rejecting.name);
    }
    if (decision.uses.length > 0) {
      for (const [name, value] of Object.entries(rateLimitHeaders(decision.uses))) c.res.headers.set(name, value);
    }
    await next();
  }
  return {
    preflights: (c, next) => (c.req.method === "OPTIONS" ? limit(c, next) : next()),
    requests: (c, next) => (c.req.method === "OPTIONS" ? next() : limit(c, next)),
  };
}

const rejectingRow = ({ rows, uses }: Decision) => rows.find(({ name }) => name === rejectingUse(uses).limit.name)!;

function logRejections(log: Log, isDryRun: boolean): (row: string, ip: string) => void {
  const lately = new Map<string, { since: number; unlogged: number }>();
  return (row, ip) => {
    const now = performance.now();
    const last = lately.get(row);
    if (last && now - last.since < LOG_EVERY_MS) {
      last.unlogged++;
      return;
    }
    lately.set(row, { since: now, unlogged: 0 });
    log.warn(
      { row, ip, more: last?.unlogged ?? 0 },
      isDryRun ? "rate limit reached (dry run: not enforced)" : "rate limit reached",
    );
  };
}
