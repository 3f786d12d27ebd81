/** A server without its own keys, and the platform that has them, as two programs with a database each. */
import { getRequestListener } from "@hono/node-server";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { Hono } from "hono";
import { afterAll, expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { testGuard, testTenants } from "../../../test/identity.ts";
import type { Principal } from "../../base/auth/principal.ts";
import { AppError } from "../../base/errors.ts";
import { errorHandler } from "../../base/http/errors.ts";
import { mountRoutes } from "../../base/http/route.ts";
import { createLog } from "../../base/log.ts";
import { identityRoutes } from "../index.ts";

const log = createLog("silent");
const platformDb = await testDatabase();
const { a, b, unknown } = await testTenants(platformDb);
const platformGuard = await testGuard(platformDb);
const platform = new Hono();
platform.onError(errorHandler("detail", log));
let requests: string[] = [];
platform.use(async (c, next) => {
  if (!c.req.path.endsWith("/changes")) requests.push(`${c.req.method} ${c.req.path}`);
  await next();
});
mountRoutes(platform, identityRoutes({ sql: platformDb.sql, log }), platformGuard);

let http: Server | undefined;
let port = 0;
async function listen(): Promise<void> {
  http = createServer(getRequestListener(platform.fetch));
  await new Promise<void>((resolve) => http!.listen(port, "127.0.0.1", resolve));
  port = (http.address() as AddressInfo).port;
}
async function hangUp(): Promise<void> {
  const ended = new Promise((resolve) => http!.close(resolve));
  http!.closeAllConnections();
  await ended;
}
await listen();
afterAll(() => hangUp());

const serverDb = await testDatabase();
const env = {
  HEDDLE_AUTH_URL: `http://127.0.0.1:${port}/`,
  HEDDLE_AUTH_KEY: a.viewer,
  HEDDLE_AUTH_MAX_AGE_SECS: "3",
};
const guard = await testGuard(serverDb, env, { ofOneWorkspace: true });

async function enter(key: string | null, server = guard) {
  const headers = new Headers(key === null ? {} : { "x-api-key": key });
  try {
    return await server.authenticator.authenticate({ headers, method: "GET", ip: "" });
  } catch (error) {
    if (error instanceof AppError) return error.status;
    throw error;
  }
}

test("verifies keys at the platform: 401 for unknown ones, 403 for expired and foreign ones", async () => {
  expect(await enter(null)).toBe(401);
  expect(await enter(unknown)).toBe(401);
  expect(await enter(a.revoked)).toBe(401);
  expect(await enter(a.expired)).toBe(403);
  expect(await enter(b.admin)).toBe(403);
  expect(await enter(a.admin)).toMatchObject({
    workspaceId: a.workspaceId,
    actor: { kind: "service_key", name: "admin" },
  });
  const viewer = (await enter(a.viewer)) as Principal;
  expect([viewer.permissions.has("threads:read"), viewer.permissions.has("threads:write")]).toEqual([true, false]);
  expect(guard.served?.()).toMatchObject({ workspaceId: a.workspaceId, organizationId: a.organizationId });
});

test("a known key is not verified again, and the server's own database stores none", async () => {
  await enter(a.admin);
  requests = [];
  for (let i = 0; i < 20; i++) await enter(a.admin);
  expect(requests).toEqual([]);
  const [row] = await serverDb.sql<{ n: number }[]>`select count(*)::int as n from api_keys`;
  expect(row!.n).toBe(0);
});

test("a pushed revocation takes effect long before the cache expires", async () => {
  // cached for so long that only a push can explain the change
  const patient = await testGuard(serverDb, { ...env, HEDDLE_AUTH_MAX_AGE_SECS: "300" }, { ofOneWorkspace: true });
  expect(await enter(a.editor, patient)).toHaveProperty("actor");
  await platformDb.sql`update api_keys set revoked_at = now() where description = 'editor' and organization_id = ${a.organizationId}`;
  await expect.poll(() => enter(a.editor, patient), { interval: 20 }).toBe(401);
});

test("known keys work for a while without the platform, and are then rejected", { timeout: 60_000 }, async () => {
  expect(await enter(a.admin)).toHaveProperty("actor");
  await hangUp();
  expect(await enter(a.admin)).toHaveProperty("actor");
  expect(await enter(a.readOnly)).toBe(503);
  await expect.poll(() => enter(a.admin), { interval: 100 }).toBe(503);
  await listen();
  await expect.poll(() => enter(a.admin), { interval: 100 }).toHaveProperty("actor");
});

test("a server whose own key is missing or rejected does not start", async () => {
  await expect(testGuard(serverDb, { ...env, HEDDLE_AUTH_KEY: unknown }, { ofOneWorkspace: true })).rejects.toThrow(
    /rejected the key in HEDDLE_AUTH_KEY/,
  );
  await expect(testGuard(serverDb, { ...env, HEDDLE_AUTH_KEY: "" }, { ofOneWorkspace: true })).rejects.toThrow(
    /HEDDLE_AUTH_URL requires HEDDLE_AUTH_KEY/,
  );
  const elsewhere = { ...env, HEDDLE_WORKSPACE_ID: b.workspaceId };
  await expect(testGuard(serverDb, elsewhere, { ofOneWorkspace: true })).rejects.toThrow(/names another/);
  await expect(testGuard(serverDb, { HEDDLE_AUTH_URL: "platform" })).rejects.toThrow(/HEDDLE_AUTH_URL must be a URL/);
});

test("the platform verifies keys only by digest and only for the requesting server's workspace", async () => {
  const ask = (key: string, body: object) =>
    platform.request("/internal/auth/keys", {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  expect((await ask(a.admin, { keys: [a.admin] })).status).toBe(422);
  expect((await ask(unknown, { keys: ["0".repeat(64)] })).status).toBe(401);
  const { createHash } = await import("node:crypto");
  const digest = createHash("sha256").update(b.admin).digest("hex");
  const answer = (await (await ask(a.admin, { keys: [digest] })).json()) as { verdicts: unknown[] };
  expect(answer.verdicts).toEqual([{ status: "elsewhere" }]);
});
