/**
 * Every route of every space × every caller that must be rejected: without a key; with a made-up, expired or revoked
 * key; with only a tenant id; with another tenant's key; with a read-only or viewer key. The routes come from the
 * declarations, so that future routes are covered too.
 */
import type { Hono } from "hono";
import { expect, test } from "vitest";

import { isReading } from "../../server/src/base/auth/permissions.ts";
import type { Guard, Route } from "../../server/src/base/http/route.ts";
import { testGuard, testTenants } from "../../server/test/identity.ts";
import { changedTables, tableStates } from "./table-states.ts";
import { concrete, type Space, startSpaces } from "./spaces.ts";

const { db, all } = await startSpaces();
const { a, b, unknown } = await testTenants(db);

/** The agent server serves workspace A; the trace platform serves all workspaces. */
const guards: Record<string, Guard> = {
  trace: await testGuard(db),
  control: await testGuard(db),
  agent: await testGuard(db, { HEDDLE_WORKSPACE_ID: a.workspaceId }, { ofOneWorkspace: true }),
};
const spaces = all.map((space) => ({ ...space, app: space.mount(guards[space.name]!) }));

interface Stranger {
  name: string;
  headers: Record<string, string>;
  /** Status this caller gets from this route; null: access is allowed. */
  expected(space: Space, route: Route): number | null;
}

const changes = ({ permission }: Route): boolean =>
  permission === "own" || (permission !== "public" && !isReading(permission));
const VIEWER_SEES_NOT = new Set(["audit:read", "organization:read"]);

const strangers: Stranger[] = [
  { name: "nobody", headers: {}, expected: () => 401 },
  { name: "a made-up key", headers: { "x-api-key": "sesame" }, expected: () => 401 },
  { name: "a key of no Heddle", headers: { "x-api-key": unknown }, expected: () => 401 },
  { name: "a made-up bearer token", headers: { authorization: `Bearer ${unknown}` }, expected: () => 401 },
  {
    name: "a made-up session",
    headers: {
      cookie: `heddle_session=heddle_session_${"0".repeat(64)}`,
      "x-heddle-csrf": `heddle_csrf_${"0".repeat(64)}`,
    },
    expected: () => 401,
  },
  { name: "a user name", headers: { authorization: "Basic YTpi" }, expected: () => 401 },
  { name: "an expired key", headers: { "x-api-key": a.expired }, expected: () => 403 },
  { name: "a revoked key", headers: { "x-api-key": a.revoked }, expected: () => 401 },
  { name: "a tenant id alone", headers: { "x-tenant-id": a.workspaceId }, expected: () => 401 },
  {
    name: "B's key for A's workspace",
    headers: { "x-api-key": b.admin, "x-tenant-id": a.workspaceId },
    expected: () => 403,
  },
  {
    name: "B's organization's key for A's workspace",
    headers: { "x-api-key": b.org, "x-tenant-id": a.workspaceId },
    expected: () => 403,
  },
  {
    name: "A's key for B's workspace",
    headers: { "x-api-key": a.admin, "x-tenant-id": b.workspaceId },
    expected: () => 403,
  },
  {
    name: "A's key for no workspace at all",
    headers: { "x-api-key": a.admin, "x-tenant-id": "rubbish" },
    expected: () => 403,
  },
  { name: "B's key", headers: { "x-api-key": b.admin }, expected: (space) => (space.name === "agent" ? 403 : null) },
  {
    name: "A's administrator on routes of a program with its own credential",
    headers: { "x-api-key": a.admin },
    expected: (_, route) => (route.permission === "own" ? 403 : null),
  },
  {
    name: "A's key that may only read",
    headers: { "x-api-key": a.readOnly },
    expected: (_, route) => (changes(route) ? 403 : null),
  },
  {
    name: "A's viewer",
    headers: { "x-api-key": a.viewer },
    expected: (_, route) => (changes(route) || VIEWER_SEES_NOT.has(route.permission) ? 403 : null),
  },
];

const send = (app: Hono, route: Route, path: string, headers: Record<string, string>) =>
  app.request(concrete(path), {
    method: route.method,
    headers: { ...headers, ...(route.method !== "GET" && { "content-type": "application/json" }) },
    ...(route.method !== "GET" && { body: "{}" }),
  });

test("rejects unauthorized callers on every route, without changes", { timeout: 180_000 }, async () => {
  const before = await tableStates(db.sql);
  const wrong: string[] = [];
  let requestCount = 0;
  for (const space of spaces) {
    for (const route of space.routes.filter((route) => route.permission !== "public")) {
      for (const path of [route.path, ...(route.aliases ?? [])]) {
        for (const { name: who, headers, expected } of strangers) {
          const status = expected(space, route);
          if (status === null) continue;
          requestCount += 1;
          const response = await send(space.app, route, path, headers);
          const body = await response.text();
          if (response.status !== status) {
            wrong.push(
              `${space.name} ${route.method} ${path} as ${who}: ${response.status} instead of ${status}: ${body}`,
            );
          }
        }
      }
    }
  }
  expect(wrong).toEqual([]);
  expect(changedTables(before, await tableStates(db.sql))).toEqual([]);
  expect(requestCount).toBeGreaterThan(800);
  console.log(`${requestCount} requests rejected on ${spaces.flatMap((space) => space.routes).length} routes`);
});

test("accepts authorized callers, as a control for the test above", async () => {
  const wrong: string[] = [];
  for (const space of spaces) {
    for (const route of space.routes.filter((route) => !["public", "own"].includes(route.permission))) {
      if (route.method !== "GET") continue;
      const response = await send(space.app, route, route.path, { "x-api-key": a.org, "x-tenant-id": a.workspaceId });
      await response.body?.cancel();
      if (response.status === 401 || response.status === 403)
        wrong.push(`${space.name} ${route.path}: ${response.status}`);
    }
  }
  expect(wrong).toEqual([]);
});

test("a rejection does not reveal whether an object exists", async () => {
  const agent = spaces.find((space) => space.name === "agent")!;
  const created = await agent.app.request("/threads", { method: "POST", headers: { "x-api-key": a.admin } });
  const { thread_id: id } = (await created.json()) as { thread_id: string };
  const ask = async (path: string) => {
    const response = await agent.app.request(path, { headers: { "x-api-key": b.admin } });
    return `${response.status} ${await response.text()}`;
  };
  expect(await ask(`/threads/${id}`)).toBe(await ask("/threads/00000000-0000-7000-8000-0000000000ff"));
});
