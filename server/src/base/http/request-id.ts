import type { MiddlewareHandler } from "hono";

import { uuid7 } from "../ids.ts";

const ACCEPTED = /^[\w.:-]{1,128}$/;

/**
 * What a request is called in the audit log and in error lines: the caller's `X-Request-Id` where it has a decent
 * form, else a new one. The answer tells it.
 */
export const nameRequests: MiddlewareHandler = async (c, next) => {
  const given = c.req.header("x-request-id");
  const id = given !== undefined && ACCEPTED.test(given) ? given : uuid7();
  c.set("requestId", id);
  await next();
  c.res.headers.set("X-Request-Id", id);
};
