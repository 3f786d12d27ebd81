import { createSecretKey, randomBytes } from "node:crypto";

import { Hono } from "hono";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { openGuard, testPrincipal } from "../../../test/principal.ts";
import { notFound } from "../../base/errors.ts";
import { mountRoutes, route } from "../../base/http/route.ts";
import { type AuditLog, type AuditLogOptions, createAuditLog } from "./audit-log.ts";
import { toOcsf } from "./ocsf.ts";
import { selectAuditRows } from "./sql.ts";
import { verifyAuditLog } from "./verify-audit-log.ts";

const db = await testDatabase();
const log = pino({ level: "silent" });
const key = { id: "k", key: createSecretKey(randomBytes(32)) };
const opened: AuditLog[] = [];
afterEach(async () => {
  for (const audit of opened.splice(0)) await audit.stop();
  await db.sql`delete from announced_changes`;
});

function open(options: AuditLogOptions = {}): AuditLog {
  const audit = createAuditLog(db.sql, log, { sealKey: key, ...options });
  opened.push(audit);
  return audit;
}

const change = (id: string) => ({
  principal: testPrincipal(),
  ip: "192.0.2.7",
  operation: "POST /api-key",
  target: { id },
  requestId: id,
});

const announcedNow = async (): Promise<number> => (await db.sql`select from announced_changes`).count;
const selectLines = async (id: string) => (await selectAuditRows(db.sql, { target: id }, { limit: 10 })).rows;

test("a recorded line replaces its announcement, and a withdrawn one leaves nothing", async () => {
  const audit = open();
  const done = await audit.announce(change("done"));
  const rejected = await audit.announce(change("rejected"));
  expect(await announcedNow()).toBe(2);
  await done.record({ ...change("done"), status: 201 });
  expect(await selectLines("done")).toMatchObject([{ status: 201 }]);
  rejected.withdraw();
  await audit.stop();
  expect(await announcedNow()).toBe(0);
  expect(await selectLines("rejected")).toEqual([]);
});

test("an announced change of a stopped process gets one line with an unknown outcome", async () => {
  const stopped = open();
  await stopped.announce(change("gone"));
  await stopped.stop();
  expect(await selectLines("gone")).toEqual([]);

  for (let i = 0; i < 2; i++) open({ lostAfterMs: 200 });
  await expect.poll(() => selectLines("gone"), { timeout: 20_000 }).toHaveLength(1);
  const [line] = await selectLines("gone");
  expect(line).toMatchObject({ ip: "192.0.2.7", operation_name: "create_api_key", status: 0, request_id: "gone" });
  expect(toOcsf(line!)).toMatchObject({
    status: "Unknown",
    http_response: { code: null },
    unmapped: { original_audit_log: { operation_succeeded: null } },
  });
  expect(await announcedNow()).toBe(0);
  expect(await verifyAuditLog(db.sql, (id) => (id === key.id ? key : undefined))).toMatchObject({
    altered: [],
    gaps: [],
    unsealed: 0,
  });
});

test("an announced change of a running process is renewed and not taken over", async () => {
  const touches = async () => (await db.sql`select touched_at from announced_changes`)[0]!["touched_at"] as Date;
  const busy = open({ lostAfterMs: 400 });
  const announced = await busy.announce(change("busy"));
  const before = await touches();
  await expect.poll(async () => (await touches()) > before, { timeout: 20_000 }).toBe(true);
  await announced.record({ ...change("busy"), status: 200 });
  expect(await selectLines("busy")).toMatchObject([{ status: 200 }]);
});

test("announces a request while it is handled, and not when it is rejected earlier", async () => {
  const app = new Hono();
  const counts: number[] = [];
  const answering = route({
    method: "DELETE",
    path: "/things/:thing_id",
    permission: "workspaces:manage",
    summary: "A change",
    tag: "t",
    out: { 200: null },
    async handler({ c }) {
      counts.push(await announcedNow());
      if (c.req.param("thing_id") === "unknown") throw notFound("none");
      return c.body(null, c.req.param("thing_id") === "bad" ? 400 : 200);
    },
  });
  const audit = open();
  mountRoutes(app, [answering], { ...openGuard, audit });
  app.onError((_, c) => c.text("", 404));
  for (const id of ["there", "unknown", "bad"]) await app.request(`/things/${id}`, { method: "DELETE" });
  expect(counts).toEqual([1, expect.any(Number), expect.any(Number)]);
  await audit.stop();
  expect(await announcedNow()).toBe(0);
  expect(await selectLines("there")).toMatchObject([{ status: 200, operation: "DELETE /things/:thing_id" }]);
  expect([...(await selectLines("unknown")), ...(await selectLines("bad"))]).toEqual([]);
});
