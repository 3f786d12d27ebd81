/** Every change through the API has exactly one line in the audit log, whenever the server was killed. */
import { randomUUID } from "node:crypto";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import postgres from "postgres";
import { afterAll, expect, test, vi } from "vitest";

import { newInstallation, ServerProcess } from "./server-process.ts";

const CLIENTS = 8;
const UNKNOWN_OUTCOME = 0;

const installation = newInstallation();
const server = await ServerProcess.create(installation, { HEDDLE_HOSTS: "1" });
afterAll(async () => {
  await server.stop();
  installation.remove();
});

/** Creates assistants until the server is gone. @returns the ids that were sent, and those that were answered */
async function changeUntilGone(): Promise<{ sent: string[]; answered: string[] }> {
  const sent: string[] = [];
  const answered: string[] = [];
  const client = async () => {
    for (;;) {
      const id = randomUUID();
      sent.push(id);
      const body = JSON.stringify({ assistant_id: id, graph_id: "echo" });
      const headers = { "Content-Type": "application/json" };
      const answer = await fetch(`${server.url}/assistants`, { method: "POST", headers, body }).catch(() => undefined);
      if (answer === undefined) return;
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining(id)]);
      answered.push(id);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return { sent, answered };
}

async function verifyLog(): Promise<string> {
  const launcher = fileURLToPath(new URL("../../cli/bin/heddle.js", import.meta.url));
  const args = [launcher, "audit", "verify", "--data-dir", installation.dataDir];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout;
}

test("a change of a server killed around it keeps its audit line or its announcement", async () => {
  const sent: string[] = [];
  const answered: string[] = [];
  let unknown = 0;
  let withoutLine = 0;
  for (const point of ["after-announcement:5", "before-audit-line:40", "after-audit-line:20", undefined]) {
    await server.start(point ? { HEDDLE_FAULT_POINTS: point } : {});
    const sql = postgres(server.databaseUri(), { max: 1, onnotice: () => {} });
    const selectLines = () => sql<{ id: string; status: number }[]>`
      select target->>'assistant_id' as id, status from audit_log where operation = 'POST /assistants'`;
    const changing = changeUntilGone();
    if (!point) {
      const max = (await selectLines()).length + 50;
      await vi.waitUntil(async () => (await selectLines()).length > max, { timeout: 30_000 });
      await server.kill();
    }
    const changed = await changing;
    expect([point, await server.exited]).toEqual([point, "SIGKILL"]);
    sent.push(...changed.sent);
    answered.push(...changed.answered);

    // wait for statements that were in progress when the server died
    const others = () => sql`
      select 1 from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`;
    await expect.poll(async () => (await others()).length).toBe(0);
    const created = await sql<{ id: string }[]>`
      select assistant_id as id from assistants where assistant_id = any(${sent}::uuid[])`;
    const before = new Set((await selectLines()).map(({ id }) => id));
    const announced = await sql<{ id: string }[]>`select draft->'target'->>'assistant_id' as id from announced_changes`;
    // at every moment each change has a line or an announcement
    const recorded = new Set([...before, ...announced.map(({ id }) => id)]);
    expect(created.filter(({ id }) => !recorded.has(id))).toEqual([]);
    expect(answered.filter((id) => !before.has(id))).toEqual([]);
    expect(announced.filter(({ id }) => before.has(id))).toEqual([]);
    if (point?.startsWith("before-audit-line")) withoutLine += created.filter(({ id }) => !before.has(id)).length;
    unknown += announced.length;
    // simulates the two minutes after which the change's process counts as dead
    await sql`update announced_changes set touched_at = now() - interval '1 hour'`;
    await sql.end();
  }

  await server.start();
  const sql = postgres(server.databaseUri(), { max: 1, onnotice: () => {} });
  await expect.poll(async () => (await sql`select 1 from announced_changes`).length, { timeout: 20_000 }).toBe(0);
  const lines = await sql<{ id: string; status: number }[]>`
    select target->>'assistant_id' as id, status from audit_log where operation = 'POST /assistants'`;
  await sql.end();
  const ids = lines.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(answered.filter((id) => !ids.includes(id))).toEqual([]);
  expect(lines.filter(({ status }) => status === UNKNOWN_OUTCOME)).toHaveLength(unknown);
  // the fault point actually left changes without a line
  expect(withoutLine).toBeGreaterThan(0);
  expect(lines.filter(({ id, status }) => answered.includes(id) && status !== 200)).toEqual([]);
  expect(await verifyLog()).toMatch(/^(\d+) lines, \1 sound, 0 without a seal$/m);
});
