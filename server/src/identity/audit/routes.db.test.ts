import { randomUUID } from "node:crypto";

import { Hono } from "hono";
import { expect, test, vi } from "vitest";
import { z } from "zod";

import { type Call, createCaller } from "../../../test/call.ts";
import { testDatabase } from "../../../test/db.ts";
import { testGuard, testTenants } from "../../../test/identity.ts";
import { conflict } from "../../base/errors.ts";
import { errorHandler } from "../../base/http/errors.ts";
import { mountRoutes, route, type Route } from "../../base/http/route.ts";
import { createLog } from "../../base/log.ts";
import { auditRoutes } from "./routes.ts";
import { AuditPage } from "./schema.ts";

const db = await testDatabase();
const { a, b, unknown } = await testTenants(db);
const guard = await testGuard(db);

const things: Route[] = [
  route({
    method: "POST",
    path: "/things",
    aliases: ["/api/v1/things"],
    summary: "",
    tag: "",
    permission: "datasets:create",
    body: z.object({ id: z.string(), fail: z.enum(["conflict", "bug"]).optional() }),
    out: {},
    handler({ body, c }) {
      if (body.fail === "conflict") throw conflict("it is there");
      if (body.fail === "bug") throw new TypeError("a bug");
      return c.json({ id: body.id, secret: "shown-once" });
    },
  }),
  route({
    method: "DELETE",
    path: "/things",
    summary: "",
    tag: "",
    permission: "datasets:delete",
    query: z.object({ named: z.union([z.string(), z.array(z.string())]).optional() }),
    body: z.object({
      thing_ids: z.array(z.string()).optional(),
      kind: z.string().optional(),
      password: z.string().optional(),
    }),
    auditFields: ["kind"],
    out: {},
    handler: () => new Response(null, { status: 204 }),
  }),
  route({
    method: "DELETE",
    path: "/things/:thing_id",
    summary: "",
    tag: "",
    permission: "datasets:delete",
    out: {},
    handler: () => new Response(null, { status: 204 }),
  }),
  route({
    method: "DELETE",
    path: "/links/:token",
    summary: "",
    tag: "",
    permission: "feedback:delete",
    auditHides: ["token"],
    out: {},
    handler: () => new Response(null, { status: 204 }),
  }),
  route({
    method: "POST",
    path: "/traffic",
    summary: "",
    tag: "",
    permission: "runs:create",
    audit: "data",
    out: {},
    handler: ({ c }) => c.json({}),
  }),
  route({
    method: "GET",
    path: "/things",
    summary: "",
    tag: "",
    permission: "datasets:read",
    out: {},
    handler: ({ c }) => c.json([]),
  }),
];

function appWith(auditsData: boolean): Call {
  const app = new Hono();
  app.onError(errorHandler("detail", createLog("silent")));
  mountRoutes(app, [...auditRoutes({ sql: db.sql }), ...things], { ...guard, auditsData });
  return createCaller(app);
}
const call = appWith(false);

const of = (key: string) => ({ "x-api-key": key });
const RANGE = `start_time=${new Date(Date.now() - 60_000).toISOString()}&end_time=2100-01-01T00:00:00Z`;
const list = async (key: string, more = "") => call("GET", `/api/v1/audit-logs?${RANGE}${more}`, undefined, of(key));

test("a change is recorded before its response, with actor, address and target", async () => {
  const id = randomUUID();
  expect(await call("POST", "/api/v1/things", { id }, of(a.admin))).toMatchObject({ status: 200 });
  const [row] = await db.sql`select * from audit_log where target->>'id' = ${id}`;
  expect(row).toMatchObject({
    organization_id: a.organizationId,
    workspace_id: a.workspaceId,
    actor_kind: "service_key",
    actor_name: "admin",
    ip: "127.0.0.1",
    operation: "POST /things",
    operation_name: "create_thing",
    status: 200,
  });
  expect(JSON.stringify(row)).not.toContain("shown-once");
  expect(JSON.stringify(row)).not.toContain(a.admin);
});

test("records ids of the query and the body as the target, and no other body fields", async () => {
  const ids = Array.from({ length: 100 }, () => randomUUID());
  const body = { thing_ids: ids, kind: "red", password: "do-not-tell" };
  const response = await call("DELETE", "/things?named=one&named=two", body, of(a.admin));
  expect(response.status).toBe(204);
  const rows = await db.sql`select target from audit_log where target->>'named' = 'one,two'`;
  expect(rows).toEqual([{ target: { named: "one,two", thing_ids: ids.join(","), kind: "red" } }]);

  const many = Array.from({ length: 300 }, () => randomUUID());
  await call("DELETE", "/things?named=many", { thing_ids: many }, of(a.admin));
  const [line] = await db.sql`select target from audit_log where target->>'named' = 'many'`;
  expect(line!["target"].thing_ids).toBe(`${many.slice(0, 250).join(",")},… 300 in total`);
});

test("a credential in the path is recorded only by its prefix, also for rejected attempts", async () => {
  const token = randomUUID();
  expect((await call("DELETE", `/links/${token}`, undefined, of(a.admin))).status).toBe(204);
  expect((await call("DELETE", `/links/${token}`, undefined, of(a.readOnly))).status).toBe(403);
  const written = () => db.sql`select target from audit_log where operation = 'DELETE /links/:token' order by status`;
  await vi.waitUntil(async () => (await written()).length === 2, { timeout: 20_000 });
  for (const { target } of await written()) expect(target).toEqual({ token: `${token.slice(0, 8)}…` });
});

test("does not record reads and rejected changes, and records one that failed with 500", async () => {
  const before = await db.sql`select 1 from audit_log`;
  await call("GET", "/things", undefined, of(a.admin));
  expect(await call("POST", "/things", { id: "x", fail: "conflict" }, of(a.admin))).toMatchObject({ status: 409 });
  expect(await call("POST", "/things", {}, of(a.admin))).toMatchObject({ status: 422 });
  expect(await db.sql`select 1 from audit_log`).toHaveLength(before.length);
  expect(await call("POST", "/things", { id: "x", fail: "bug" }, of(a.admin))).toMatchObject({ status: 500 });
  await expect.poll(() => db.sql`select operation_name from audit_log where status = 500`).toHaveLength(1);
});

test("records rejected attempts, with an unknown actor or the key's owner", async () => {
  const id = randomUUID();
  expect(await call("DELETE", `/things/${id}`, undefined, of(unknown))).toMatchObject({ status: 401 });
  expect(await call("DELETE", `/things/${id}`, undefined, of(a.viewer))).toMatchObject({ status: 403 });
  const rows = () => db.sql`select workspace_id, actor_kind, status from audit_log
    where target->>'thing_id' = ${id} order by status`;
  await expect.poll(rows).toEqual([
    { workspace_id: null, actor_kind: "unknown", status: 401 },
    { workspace_id: a.workspaceId, actor_kind: "service_key", status: 403 },
  ]);
});

test("records traffic only when configured", async () => {
  const traffic = () => db.sql`select 1 from audit_log where operation = 'POST /traffic'`;
  await call("POST", "/traffic", undefined, of(a.admin));
  expect(await traffic()).toHaveLength(0);
  await appWith(true)("POST", "/traffic", undefined, of(a.admin));
  expect(await traffic()).toHaveLength(1);
});

test("the list has the contract's shape, filters, and pages to its end", async () => {
  const ids = Array.from({ length: 25 }, () => randomUUID());
  for (const id of ids) await call("POST", "/things", { id }, of(b.admin));
  await call("DELETE", `/things/${ids[3]}`, undefined, of(b.admin));
  const listed: string[] = [];
  let cursor: string | null = null;
  do {
    const more: string = cursor ? `&cursor=${encodeURIComponent(cursor)}` : "";
    const response = await list(b.admin, `&limit=10&operations=create_thing&operations=other${more}`);
    expect(response.status).toBe(200);
    const page = AuditPage.parse(response.json);
    listed.push(...page.items.map((item) => item.resources[0]!.uid));
    cursor = page.cursor;
  } while (cursor);
  expect(listed).toEqual(ids.toReversed());

  const about = await list(b.admin, `&target=${ids[3]}`);
  expect(about.json.items.map((item: { api: unknown }) => item.api)).toEqual([
    { operation: "delete_thing" },
    { operation: "create_thing" },
  ]);
  const [first] = about.json.items;
  expect(first).toMatchObject({ class_uid: 6003, type_uid: 600_304, activity_name: "Delete", status: "Success" });
  const by = first.actor.user.credential_uid;
  expect((await list(b.admin, `&actor_id=${by}`)).json.items.length).toBe(10);
  expect((await list(b.admin, `&actor_id=${randomUUID()}`)).json.items).toEqual([]);
  expect((await list(b.admin, "&operations=DELETE%20/things/:thing_id")).json.items.length).toBe(1);
});

test("a workspace sees only its own lines, and an organization only those of its workspaces", async () => {
  const listedWorkspaces = async (key: string, headers = {}) => {
    const response = await call("GET", `/audit-logs?limit=100&${RANGE}`, undefined, { ...of(key), ...headers });
    const items: { unmapped: { original_audit_log: { workspace_id: string } } }[] = response.json.items;
    return [...new Set(items.map((item) => item.unmapped.original_audit_log.workspace_id))];
  };
  expect(await listedWorkspaces(a.admin)).toEqual([a.workspaceId]);
  expect(await listedWorkspaces(b.org, { "x-tenant-id": b.workspaceId })).toEqual([b.workspaceId]);
  expect(await list(a.admin, `&workspace_id=${b.workspaceId}`)).toMatchObject({ status: 403 });
  const foreign = await call("GET", `/audit-logs?${RANGE}&workspace_id=${a.workspaceId}`, undefined, {
    ...of(b.org),
    "x-tenant-id": b.workspaceId,
  });
  expect(foreign.json.items).toEqual([]);
  expect(await list(a.viewer)).toMatchObject({ status: 403 });
  expect(await list(unknown)).toMatchObject({ status: 401 });
});

test.each([
  ["/audit-logs"],
  [`/audit-logs?start_time=2026-01-01T00:00:00Z`],
  [`/audit-logs?start_time=yesterday&end_time=2026-01-01T00:00:00Z`],
  [`/audit-logs?${RANGE}&limit=101`],
  [`/audit-logs?${RANGE}&limit=0`],
  [`/audit-logs?${RANGE}&cursor=nonsense`],
  [`/audit-logs?${RANGE}&cursor=${Buffer.from('{"at":"x","id":"y"}').toString("base64")}`],
  [`/audit-logs?${RANGE}&operations=%00`],
  [`/audit-logs?${RANGE}&workspace_id=x`],
  [`/audit-logs/export?${RANGE}&format=xml`],
])("rejects %s", async (path) => {
  const response = await call("GET", path, undefined, of(a.admin));
  expect(response.status).toBe(422);
  expect(response.json.detail).toMatch(/^Invalid query: /);
});

test("the export holds every line, oldest first, as JSON and as CSV without formulas", async () => {
  const named = '=HYPERLINK("http://evil")';
  const wide = await db.sql<{ n: number }[]>`
    insert into audit_log (id, at, organization_id, workspace_id, actor_kind, actor_id, actor_name, ip, operation,
      operation_name, target, status, occurrences, writer_id, writer_seq)
    select gen_random_uuid(), now() - interval '1 second' + make_interval(secs => n / 10000.0), ${b.organizationId},
      ${b.workspaceId}, 'session', '', ${named}, '::1', 'POST /bulk', 'create_bulk', '{"id": "a,b\\n\\"c\\""}', 200, 1,
      ${randomUUID()}, n
    from generate_series(1, 1200) n returning 1 as n`;
  const path = `/audit-logs/export?${RANGE}&operations=create_bulk`;
  const json = await call("GET", path, undefined, of(b.admin));
  const lines = json.text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { at: string; writer_seq: number });
  expect(json.headers.get("content-type")).toBe("application/x-ndjson");
  expect(lines.map((line) => line.writer_seq).sort((x, y) => x - y)).toEqual(wide.map((_, index) => index + 1));
  expect(lines.map((line) => line.at)).toEqual(lines.map((line) => line.at).toSorted());
  const csv = await call("GET", `${path}&format=csv`, undefined, of(b.admin));
  expect(csv.text.split("\r\n").length).toBe(1202);
  expect(csv.text).toContain(`,"'=HYPERLINK(""http://evil"")",`);
  expect(csv.text).toContain(String.raw`"{""id"":""a,b\n\""c\""""}"`);
  expect((await call("GET", path, undefined, of(a.admin))).text).toBe("");
});
