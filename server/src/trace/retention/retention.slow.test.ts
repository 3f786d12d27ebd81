import { expect, test, vi } from "vitest";

import { readOptions } from "../../base/config/options.ts";
import { microseconds, sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { traceOptions } from "../settings.ts";
import { RetentionSweep } from "./retention-sweep.ts";

const { call, platform, sql, clickhouse } = await testTracePlatform();

const DAY_MS = 86_400_000;
const now = Date.now();
const daysAgo = (days: number) => ({ start_time: microseconds(now - days * DAY_MS) });

const sweepWith = (env: Record<string, string>) =>
  new RetentionSweep({ ...platform.deps, settings: readOptions(traceOptions, env) });
const status = async (id: string) => (await call("GET", `/runs/${id}`)).status;
const readTier = async (id: string) => (await call("GET", `/runs/${id}`)).json.trace_tier;
const onDisk = async (id: string) => {
  const query = "select count() as n from runs where id = {id:UUID}";
  return (await clickhouse.rows<{ n: number }>({ name: "test", query, params: { id } }))[0]!.n;
};

test("by default a long-lived project keeps everything, and a short-lived one two weeks", async () => {
  await call("POST", "/sessions", { name: "short", trace_tier: "shortlived" });
  const [old, recent, long] = [
    sampleRun("short", daysAgo(15)),
    sampleRun("short", daysAgo(13)),
    sampleRun("long", daysAgo(2000)),
  ];
  await sendRuns(call, [old, recent, long]);
  expect((await call("GET", `/runs/${recent.id}`)).json).toMatchObject({
    trace_tier: "shortlived",
    ttl_seconds: 14 * 86_400,
  });
  expect((await call("GET", `/runs/${long.id}`)).json).toMatchObject({ trace_tier: "longlived", ttl_seconds: null });
  expect(await sweepWith({}).sweep(now)).toBe(1);
  expect([await status(old.id), await status(recent.id), await status(long.id)]).toEqual([404, 200, 200]);
  expect(await onDisk(old.id)).toBe(0);
  expect(await sweepWith({}).sweep(now)).toBe(0);
});

test("feedback moves its trace to the longer tier, unless it opts out", async () => {
  await call("POST", "/sessions", { name: "judged", trace_tier: "shortlived" });
  const root = sampleRun("judged", daysAgo(15));
  const child = sampleRun("judged", daysAgo(15), { parent: root });
  const [other, linked, late] = [1, 2, 3].map(() => sampleRun("judged", daysAgo(15)));
  await sendRuns(call, [root, child, other!, linked!]);
  const give = async (body: object) =>
    expect((await call("POST", "/feedback", { key: "k", ...body })).status).toBe(200);
  await give({ run_id: child.id, extend_trace_retention: true });
  await give({ run_id: other!.id, extend_trace_retention: false });
  await give({ run_id: late!.id });
  const token = (await call("POST", "/feedback/tokens", { run_id: linked!.id, feedback_key: "k" })).json;
  expect((await call("GET", `/feedback/tokens/${token.id}?score=1`)).status).toBe(200);
  await sendRuns(call, [late!]);
  await expect.poll(() => readTier(late!.id), { timeout: 30_000 }).toBe("longlived");
  expect(await readTier(root.id)).toBe("longlived");
  expect((await call("GET", `/runs/${child.id}`)).json).toMatchObject({
    trace_tier: "longlived",
    trace_upgrade: true,
    ttl_seconds: null,
  });
  expect(await readTier(other!.id)).toBe("shortlived");
  expect(await sweepWith({}).sweep(now)).toBe(1);
  expect(await Promise.all([root, child, linked!, late!, other!].map((run) => status(run.id)))).toEqual([
    200, 200, 200, 200, 404,
  ]);
});

test("tokens of feedback that expired long ago are deleted", async () => {
  const tokens: string[] = [];
  for (const days of [91, 89]) {
    const { json } = await call("POST", "/feedback/tokens", { run_id: crypto.randomUUID(), feedback_key: "k" });
    await sql`
      update feedback_tokens set expires_at = now() - make_interval(days => ${days}) where token_id = ${json.id}`;
    tokens.push(json.id as string);
  }
  await sweepWith({}).sweep();
  const statuses = tokens.map(async (id) => (await call("GET", `/feedback/tokens/${id}?score=1`)).status);
  expect(await Promise.all(statuses)).toEqual([404, 410]);
});

test("repeated feedback can still move its trace", async () => {
  await call("POST", "/sessions", { name: "again", trace_tier: "shortlived" });
  const run = sampleRun("again");
  await sendRuns(call, [run]);
  const feedback = { id: crypto.randomUUID(), run_id: run.id, key: "k" };
  await call("POST", "/feedback", { ...feedback, extend_trace_retention: false });
  expect(await readTier(run.id)).toBe("shortlived");
  await call("POST", "/feedback", { ...feedback, extend_trace_retention: true });
  expect(await readTier(run.id)).toBe("longlived");
});

test("a trace is deleted completely when its first run expires", async () => {
  const root = sampleRun("whole", daysAgo(31));
  const child = sampleRun("whole", daysAgo(29), { parent: root });
  const young = sampleRun("whole", daysAgo(29));
  await sendRuns(call, [root, child, young]);
  expect(await sweepWith({ HEDDLE_RETENTION_LONGLIVED_DAYS: "30" }).sweep(now)).toBeGreaterThan(0);
  expect([await status(root.id), await status(child.id), await status(young.id)]).toEqual([404, 404, 200]);
});

test("a project's own retention days override its tier", async () => {
  await call("POST", "/sessions", { name: "own", retention_days: 5 });
  const [expired, fresh] = [sampleRun("own", daysAgo(6)), sampleRun("own", daysAgo(4))];
  await sendRuns(call, [expired, fresh]);
  expect((await call("GET", `/runs/${fresh.id}`)).json.ttl_seconds).toBe(5 * 86_400);
  expect(await sweepWith({}).sweep(now)).toBe(1);
  expect([await status(expired.id), await status(fresh.id)]).toEqual([404, 200]);
});

test("runs stored during their project's deletion are deleted too", async () => {
  const run = sampleRun("late");
  await sendRuns(call, [run]);
  const [project] = (await call("GET", "/sessions?name=late")).json;
  await call("DELETE", `/sessions/${project.id}`);
  // stored in the meantime by another replica, which caches projects for a second
  await clickhouse.command({
    name: "test",
    query: `insert into runs (tenant_id, project_id, start_time, id, trace_id, updated_at)
      values ({tenant:UUID}, {project:UUID}, now64(6), {id:UUID}, {id:UUID}, now64(6))`,
    params: { tenant: project.tenant_id, project: project.id, id: run.id },
  });
  expect(await onDisk(run.id)).toBe(1);
  await sweepWith({}).sweep(now);
  expect(await onDisk(run.id)).toBe(1);
  await sql`update project_deletions set deleted_at = now() - interval '2 minutes'`;
  await sweepWith({}).sweep(now);
  expect(await onDisk(run.id)).toBe(0);
  expect(await sql`select 1 from project_deletions`).toHaveLength(0);
});

test("a sweep removes deleted rows from disk", async () => {
  const masked = "select count() as n from system.parts where active and has_lightweight_delete";
  // a merge of ClickHouse's own may have removed the rows before they are looked at
  await vi.waitFor(async () => {
    const run = sampleRun("disk");
    await sendRuns(call, [run, sampleRun("disk")]);
    await call("POST", "/runs/delete", { trace_ids: [run.id] });
    expect(await clickhouse.rows({ name: "test", query: masked })).not.toEqual([{ n: 0 }]);
  }, 20_000);
  await sweepWith({}).sweep(now);
  expect(await clickhouse.rows({ name: "test", query: masked })).toEqual([{ n: 0 }]);
});

test("two servers do not sweep at the same time", async () => {
  const sweeps = Array.from({ length: 4 }, () => sweepWith({ HEDDLE_RETENTION_LONGLIVED_DAYS: "30" }).sweep(now));
  expect((await Promise.all(sweeps)).filter((n) => n > 0).length).toBeLessThanOrEqual(1);
});
