import type { MiddlewareHandler } from "hono";

import { AppError } from "../errors.ts";
import { type ErrorMode, errorResponse } from "./errors.ts";

/**
 * 413 for a body of more than `maxBytes`. One that tells its length is judged by that; of others the bytes are
 * counted as they are read. (hono's own middleware reads the whole body into memory before anybody wants it.)
 */
export function limitBody(
  maxBytes: number,
  mode: ErrorMode,
  /** Paths whose handlers have a limit of their own. */
  isExempt: (path: string) => boolean = () => false,
): MiddlewareHandler {
  const tooLarge = () => new AppError(413, `The request body is larger than ${maxBytes} bytes.`);
  return async (c, next) => {
    if (isExempt(c.req.path)) return next();
    if (c.req.header("transfer-encoding") !== undefined && c.req.raw.body) {
      const body = counted(c.req.raw.body, maxBytes, tooLarge);
      c.req.raw = new Request(c.req.raw, { body, duplex: "half" } as RequestInit);
    } else if (Number(c.req.header("content-length") ?? 0) > maxBytes) return errorResponse(mode, tooLarge());
    await next();
  };
}

function counted(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  tooLarge: () => Error,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let total = 0;
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      total += value.byteLength;
      if (total > maxBytes) {
        controller.error(tooLarge());
        await reader.cancel();
      } else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
