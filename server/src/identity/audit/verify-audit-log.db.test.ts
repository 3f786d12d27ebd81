import { pino } from "pino";
import { expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { testPrincipal } from "../../../test/principal.ts";
import { generateKey, Keyring } from "../../base/secrets/keyring.ts";
import { createAuditLog } from "./audit-log.ts";
import { type SealKey, deriveSealKey } from "./seal.ts";
import { verifyAuditLog } from "./verify-audit-log.ts";

const db = await testDatabase();
const log = pino({ level: "silent" });
const ring = new Keyring(generateKey(), "a test");
const sealKey = deriveSealKey(ring.newest);
const findKey = (id: string) => (id === sealKey.id ? sealKey : undefined);

async function write(count: number, key: SealKey | undefined): Promise<void> {
  const audit = createAuditLog(db.sql, log, { sealKey: key });
  const entry = { principal: testPrincipal(), ip: "::1", operation: "POST /x", status: 200 };
  await Promise.all(
    Array.from({ length: count }, (_, i) => audit.record({ ...entry, target: { z: "1", id: `${i}` } })),
  );
  await audit.stop();
}

/** Runs `work` with the abilities of a user with all rights on the database. */
async function tamper(work: () => Promise<unknown>): Promise<void> {
  await db.sql`alter table audit_log disable trigger user`;
  await work();
  await db.sql`alter table audit_log enable trigger user`;
}

test("an untouched log verifies, also with several writers", async () => {
  await Promise.all([write(100, sealKey), write(50, sealKey)]);
  expect(await verifyAuditLog(db.sql, findKey)).toEqual({
    lines: 150,
    sound: 150,
    unsealed: 0,
    unknownKeys: {},
    altered: [],
    gaps: [],
  });
});

test("detects a changed, an inserted and a removed line", async () => {
  const [changed, removed] = await db.sql<{ id: string; writer_id: string; writer_seq: string }[]>`
    select id, writer_id, writer_seq from audit_log where writer_seq in (10, 20) order by writer_seq limit 2`;
  const forged = "00000000-0000-7000-8000-0000000000ff";
  await tamper(async () => {
    await db.sql`update audit_log set actor_name = 'somebody else' where id = ${changed!.id}`;
    await db.sql`delete from audit_log where writer_id = ${changed!.writer_id} and writer_seq = 20`;
    await db.sql`insert into audit_log select ${forged}::uuid, at, organization_id, workspace_id, actor_kind, actor_id,
      actor_name, user_id, ip, operation, operation_name, target, status, occurrences, request_id, writer_id, 5000,
      seal_key_id, seal from audit_log where writer_seq = 1 limit 1`;
  });
  const found = await verifyAuditLog(db.sql, findKey);
  expect(found.altered.toSorted()).toEqual([changed!.id, forged].sort());
  expect(found.gaps).toContainEqual({ writer: changed!.writer_id, after: 19, missing: 1 });
  expect(removed).toBeDefined();
});

test("detects a change of a line whose seal was removed", async () => {
  const before = await verifyAuditLog(db.sql, findKey);
  await write(3, sealKey);
  const lines = await db.sql<{ id: string }[]>`select id from audit_log order by at desc, writer_seq desc limit 3`;
  for (const { id } of lines.slice(1)) {
    await tamper(() => db.sql`update audit_log set actor_name = 'x', seal = null, seal_key_id = null where id = ${id}`);
    const found = await verifyAuditLog(db.sql, findKey);
    expect(found.altered).toContain(id);
    expect(found.unsealed).toBe(before.unsealed);
  }
});

test("counts unsealed lines and lines sealed with an unknown key separately", async () => {
  const other = new Keyring(generateKey(), "a test");
  await write(3, undefined);
  await write(4, deriveSealKey(other.newest));
  const found = await verifyAuditLog(db.sql, findKey);
  expect(found.unsealed).toBe(3);
  expect(found.unknownKeys).toEqual({ [other.newest.id]: 4 });
});
