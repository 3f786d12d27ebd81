import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";

import { AppError } from "../errors.ts";
import { type ErrorMode, errorResponse } from "./errors.ts";

/**
 * 413 for a body of more than `maxBytes`. One that tells its length is judged by that; hono's own middleware,
 * which counts what comes, makes a full Request of each first, and that costs more than the rest of the routing.
 */
export function limitBody(maxBytes: number, mode: ErrorMode): MiddlewareHandler {
  const tooLarge = () => errorResponse(mode, new AppError(413, `The request body is larger than ${maxBytes} bytes.`));
  const counted = bodyLimit({ maxSize: maxBytes, onError: tooLarge });
  return async (c, next) => {
    if (c.req.header("transfer-encoding") !== undefined) return counted(c, next);
    if (Number(c.req.header("content-length") ?? 0) > maxBytes) return tooLarge();
    await next();
  };
}
