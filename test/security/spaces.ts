import type { Hono } from "hono";

import { agentRoutes } from "../../server/src/agent/index.ts";
import { createAgentApp } from "../../server/src/agent-app.ts";
import { createControlApp } from "../../server/src/control-app.ts";
import { controlRoutes } from "../../server/src/control/index.ts";
import type { Guard, Route } from "../../server/src/base/http/route.ts";
import { createTraceApp } from "../../server/src/trace-app.ts";
import { traceRoutes } from "../../server/src/trace/index.ts";
import { testAgentServer } from "../../server/test/agent-server.ts";
import { testControlPlane } from "../../server/test/control-plane.ts";
import { type TestDatabase, testDatabase } from "../../server/test/db.ts";
import { noAudit } from "../../server/test/principal.ts";
import { testTracePlatform } from "../../server/test/trace-platform.ts";

/**
 * The mounted address spaces, on one database. Every space that a module `*-app.ts` mounts must be listed here, or
 * `mounted.test.ts` fails, so that all tests of this folder cover future spaces.
 */
export interface Space {
  name: string;
  /** Module in server/src that mounts it. */
  module: string;
  routes: Route[];
  mount(guard: Guard): Hono;
}

export interface Spaces {
  db: TestDatabase;
  all: Space[];
}

/** Encryption keys; servers of one database need the same. */
const KEYS = { HEDDLE_SECRETS_KEYS: `t1:${Buffer.alloc(32, 7).toString("base64")}` };

export async function startSpaces(): Promise<Spaces> {
  const db = await testDatabase();
  const { agent } = await testAgentServer({}, undefined, { db });
  const { platform } = await testTracePlatform(KEYS, { db });
  const { control } = await testControlPlane(KEYS, { db });
  const all: Space[] = [
    {
      name: "agent",
      module: "agent-app.ts",
      routes: agentRoutes(agent.deps),
      mount: (guard) => createAgentApp(agent.deps, guard),
    },
    {
      name: "trace",
      module: "trace-app.ts",
      routes: traceRoutes(platform.deps, noAudit),
      mount: (guard) => createTraceApp(platform.deps, guard),
    },
    {
      name: "control",
      module: "control-app.ts",
      routes: controlRoutes(control.deps),
      mount: (guard) => createControlApp(control.deps, guard),
    },
  ];
  return { db, all };
}

/** Returns a path that matches a declared one: every parameter gets a UUID that names nothing. */
export const concrete = (path: string, id = "00000000-0000-7000-8000-0000000000ff"): string =>
  path.replace(/:\w+(\{[^}]*\})?/g, id);
