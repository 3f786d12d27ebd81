import { createSecretKey, randomBytes } from "node:crypto";

import { pino } from "pino";
import { afterEach, expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { testPrincipal } from "../../../test/principal.ts";
import type { AuditEntry } from "../../base/auth/principal.ts";
import { type AuditLog, type AuditLogOptions, createAuditLog } from "./audit-log.ts";
import { selectAuditRows, sweepAuditRows } from "./sql.ts";

const db = await testDatabase();
const logged: string[] = [];
const log = pino({ level: "info" }, { write: (line: string) => void logged.push(line) });
const opened: AuditLog[] = [];
afterEach(async () => {
  for (const audit of opened.splice(0)) await audit.stop();
});

const A = "00000000-0000-7000-8000-00000000000a";
const B = "00000000-0000-7000-8000-00000000000b";

function open(options: AuditLogOptions = {}): AuditLog {
  const audit = createAuditLog(db.sql, log, options);
  opened.push(audit);
  return audit;
}

const change = (over: Partial<AuditEntry> = {}): AuditEntry => ({
  principal: testPrincipal(A),
  ip: "192.0.2.7",
  operation: "POST /api-key",
  target: { id: "k1" },
  status: 200,
  requestId: "r-1",
  ...over,
});

test("a recorded change is stored completely when record resolves", async () => {
  await open().record(change());
  const [row] = await db.sql`select * from audit_log where workspace_id = ${A}`;
  expect(row).toMatchObject({
    actor_kind: "local",
    ip: "192.0.2.7",
    operation: "POST /api-key",
    operation_name: "create_api_key",
    target: { id: "k1" },
    status: 200,
    request_id: "r-1",
    occurrences: 1,
  });
});

test("a thousand concurrent changes are all stored, in few commits, numbered without a gap", async () => {
  const audit = open();
  await Promise.all(Array.from({ length: 1000 }, (_, i) => audit.record(change({ target: { id: `many-${i}` } }))));
  const [found] = await db.sql`
    select count(*)::int as lines, count(distinct xmin::text)::int as commits, count(distinct target)::int as targets,
      (max(writer_seq) - min(writer_seq) + 1)::int as span, count(distinct writer_id)::int as writers
    from audit_log where target->>'id' like 'many-%'`;
  expect(found).toMatchObject({ lines: 1000, targets: 1000, span: 1000, writers: 1 });
  expect(found!["commits"]).toBeLessThan(50);
});

test("attacker-controlled text cannot prevent a line from being written", async () => {
  const target = { id: `nul\0 and half \uD800 ${"x".repeat(10_000)}` };
  const principal = testPrincipal("no-uuid");
  await open().record(change({ target, principal, requestId: "\0" }));
  await open().record(change({ target, principal, requestId: "\0", status: 403 }));
  const rows = () => db.sql<{ id: string }[]>`
    select target->>'id' as id from audit_log where request_id = ${"\uFFFD"} order by status`;
  await expect.poll(rows).toHaveLength(2);
  const [done, rejected] = await rows();
  for (const row of [done!, rejected!]) expect(row.id).toMatch(/^nul\uFFFD and half \uFFFD x+$/);
  // a change's target is kept up to the limit of an entry; that of a rejected attempt is shortened
  expect([done!.id.length, rejected!.id.length]).toEqual([10_000, 200]);
});

test("lines can be neither updated nor deleted", async () => {
  await open().record(change({ target: { id: "fixed" } }));
  const rejected = /append-only/;
  await expect(db.sql`update audit_log set ip = 'elsewhere' where target->>'id' = 'fixed'`).rejects.toThrow(rejected);
  await expect(db.sql`delete from audit_log where target->>'id' = 'fixed'`).rejects.toThrow(rejected);
  await expect(db.sql`truncate audit_log`).rejects.toThrow(rejected);
  // the sweep's own setting does not permit deleting entries younger than a day
  await expect(sweepAuditRows(db.sql, new Date(Date.now() + 1000), 10)).rejects.toThrow(rejected);
});

test("the sweep removes expired lines and nothing else", async () => {
  await db.sql`insert into audit_log (id, at, actor_kind, actor_id, actor_name, ip, operation, operation_name, target,
      status, occurrences, writer_id, writer_seq)
    select gen_random_uuid(), now() - make_interval(days => d, hours => 1), 'system', '', '', '', 'test sweep', 'test_sweep', '{}',
      200, 1, ${B}, d from generate_series(1, 60) d`;
  const audit = open({ retentionDays: 30 });
  const count = async () => (await db.sql`select 1 from audit_log where operation = 'test sweep'`).length;
  await expect.poll(count, { timeout: 10_000 }).toBeLessThan(60);
  await audit.stop();
  expect(await count()).toBe(29);
});

test("a flood of rejections becomes few lines that count all of them", async () => {
  const audit = open();
  for (let i = 0; i < 5_000; i++) {
    await audit.record(
      change({ principal: null, status: 401, operation: "DELETE /flood", ip: `198.51.100.${i % 250}` }),
    );
  }
  await audit.stop();
  const rows = await db.sql<{ operation: string; occurrences: number }[]>`
    select operation, occurrences from audit_log where operation in ('DELETE /flood', 'refused')`;
  expect(rows.length).toBe(401);
  expect(rows.reduce((sum, row) => sum + row.occurrences, 0)).toBe(5_000);
  expect(rows.find((row) => row.operation === "refused")!.occurrences).toBe(1_000);
});

test("the first rejection of its kind is recorded at once", async () => {
  await open().record(change({ principal: null, status: 403, operation: "DELETE /once" }));
  await expect
    .poll(() => db.sql`select actor_kind, status from audit_log where operation = 'DELETE /once'`)
    .toMatchObject([{ actor_kind: "unknown", status: 403 }]);
});

test("a line that cannot be written fails the change and is logged", async () => {
  const broken = await testDatabase();
  await broken.sql`drop table audit_log`;
  const audit = createAuditLog(broken.sql, log);
  logged.length = 0;
  await expect(audit.record(change({ target: { id: "lost" } }))).rejects.toThrow(/audit_log/);
  expect(logged.join("")).toContain('"id":"lost"');
  await audit.stop();
});

test("pages have no gaps or repeats, in both directions", async () => {
  const audit = open({ sealKey: { id: "k", key: createSecretKey(randomBytes(32)) } });
  await Promise.all(
    Array.from({ length: 25 }, (_, i) =>
      audit.record(change({ principal: testPrincipal(B), target: { id: `p${i}` } })),
    ),
  );
  for (const oldestFirst of [true, false]) {
    const listed: string[] = [];
    let after;
    do {
      const page = await selectAuditRows(db.sql, { workspaceId: B }, { limit: 10, oldestFirst, after });
      listed.push(...page.rows.map((row) => row.target["id"]!));
      after = page.next ?? undefined;
    } while (after);
    const expected = Array.from({ length: 25 }, (_, i) => `p${i}`);
    expect(listed).toEqual(oldestFirst ? expected : expected.reverse());
  }
});
