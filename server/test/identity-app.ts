import { Hono } from "hono";

import { errorHandler, errorResponse } from "../src/base/http/errors.ts";
import { type Guard, mountRoutes } from "../src/base/http/route.ts";
import { AppError } from "../src/base/errors.ts";
import { createLog } from "../src/base/log.ts";
import { identityRoutes } from "../src/identity/index.ts";
import { type Answer, createCaller } from "./call.ts";
import type { TestDatabase } from "./db.ts";

export type CallAs = (key: string | null, method: string, path: string, body?: unknown) => Promise<Answer>;

/** Mounts the endpoints of identity behind a guard, without the trace platform that serves them. */
export function testIdentityApp(db: TestDatabase, guard: Guard): CallAs {
  const log = createLog("error");
  const app = new Hono();
  app.onError(errorHandler("detail", log));
  app.notFound(() => errorResponse("detail", new AppError(404, "404 Not Found")));
  mountRoutes(app, identityRoutes({ sql: db.sql, log }), guard);
  const call = createCaller(app);
  return (key, method, path, body) => call(method, path, body, key === null ? {} : { "x-api-key": key });
}
