import type { MiddlewareHandler } from "hono";

import { uuid7 } from "../ids.ts";

const ACCEPTED = /^[\w.:-]{1,128}$/;

/**
 * Assigns each request an id for the audit log and error lines: the caller's `X-Request-Id` if well-formed, else a new
 * one. The response carries it.
 */
export const nameRequests: MiddlewareHandler = async (c, next) => {
  const header = c.req.header("x-request-id");
  const id = header !== undefined && ACCEPTED.test(header) ? header : uuid7();
  c.set("requestId", id);
  await next();
  c.res.headers.set("X-Request-Id", id);
};
