import { afterAll, expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { marchDay as day, testExports } from "../../../test/exports.ts";
import { nextInstant, type SampleRun, sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import {
  atRandom,
  INTERNAL_ERROR,
  KEY_REVOKED,
  NO_SUCH_BUCKET,
  startFaultProxy,
} from "../../../../test/s3/fault-proxy.ts";
import { until } from "../../../test/until.ts";

const exports = await testExports({
  HEDDLE_EXPORT_FILE_ROWS: "20",
  HEDDLE_EXPORT_WORKSPACE_LIMIT: "1",
  HEDDLE_EXPORT_RETRIES: "100",
});
const { call, sql, s3, newProject, create, ended, finished, keysOf: exportKeys, readManifest, readRows } = exports;
// created at file level, so that it is dropped after the file's tests
const titleDb = await testDatabase();
const proxy = await startFaultProxy(s3.endpoint);
afterAll(() => proxy.stop());
const throughProxy = await exports.makeDestination(exports.credentials, proxy.endpoint);

const second = (i: number) => `00:00:${String(i).padStart(2, "0")}.000000`;

async function projectWith(
  name: string,
  n: number,
  on = 7,
): Promise<{ session_id: string; runs: SampleRun[]; window: object }> {
  const session_id = await newProject(name);
  const runs = Array.from({ length: n }, (_, i) => sampleRun(name, { start_time: day(on, second(i)), name: "before" }));
  await sendRuns(call, runs);
  return { session_id, runs, window: { session_id, start_time: day(on), end_time: day(on + 1) } };
}

const sortedIds = (rows: Record<string, unknown>[]) => rows.map((row) => row["id"]).toSorted();

const isRunning = (id: string) => async () =>
  (await sql`select 1 from bulk_exports where id = ${id} and snapshot_id is not null`).length > 0;

test("an export skips runs that arrive late, writes updated ones once, and counts deleted ones", async () => {
  const { session_id, runs, window } = await projectWith("moving", 60);
  proxy.setRule(({ method }) => (method === "PUT" ? INTERNAL_ERROR : undefined));
  const body = { ...window, bulk_export_destination_id: throughProxy, filter: 'eq(name, "before")' };
  const { json: created } = await create(body);
  await until(isRunning(created.id), "a snapshot was taken");
  await sendRuns(call, [sampleRun("moving", { start_time: day(7, "00:00:00.500000"), name: "before" })]);
  const { trace_id, dotted_order } = runs[10]!;
  const patched = await call("PATCH", `/runs/${trace_id}`, { name: "after", trace_id, dotted_order });
  expect(patched).toMatchObject({ status: 202 });
  const deleted = await call("POST", "/runs/delete/traces", { session_id, trace_ids: [runs[59]!.id] });
  expect(deleted).toMatchObject({ status: 200 });
  proxy.setRule(undefined);
  expect(await ended(created.id)).toMatchObject({ status: "COMPLETED" });
  const rows = await readRows(created.id, "id, name");
  expect(sortedIds(rows)).toEqual(
    runs
      .slice(0, 59)
      .map((run) => run.id)
      .toSorted(),
  );
  expect(await readManifest(created.id)).toMatchObject({ query_count: 60, rows: 59, deleted_count: 1 });
  const { text } = await call("GET", "/metrics");
  expect(text).toContain("heddle_export_rows_total 59\n");
  expect(text).toMatch(/^heddle_export_bytes_total [1-9]\d{3,}$/m);
  expect(text).toContain('heddle_exports{status="COMPLETED"} 1\n');
  expect(text).toContain('heddle_export_runs{status="COMPLETED"} 1\n');
  await expect
    .poll(async () => (await call("GET", "/metrics")).text)
    .toContain('heddle_export_attempt_duration_seconds_count{outcome="completed"} 1\n');
});

test("cancelling a schedule leaves the exports alone that it has spawned, running or waiting", async () => {
  const session_id = await newProject("cancelled schedule");
  await sendRuns(
    call,
    [12, 13].map((on) => sampleRun("cancelled schedule", { start_time: day(on, second(1)) })),
  );
  proxy.setRule(({ method }) => (method === "PUT" ? INTERNAL_ERROR : undefined));
  exports.setClock(() => new Date(day(14, "00:30:00.000000")));
  const { json: schedule } = await create({
    session_id,
    bulk_export_destination_id: throughProxy,
    start_time: day(12),
    interval_hours: 24,
  });
  const spawned = () =>
    sql<{ id: string; status: string }[]>`
      select id, status from bulk_exports where source_bulk_export_id = ${schedule.id} order by window_n`;
  // a workspace runs one export at a time
  await until(
    async () => (await spawned()).map(({ status }) => status).join() === "RUNNING,CREATED",
    "one export runs and one waits",
  );
  const cancelled = await call("PATCH", `/bulk-exports/${schedule.id}`, { status: "Cancelled" });
  expect(cancelled.json.status).toBe("CANCELLED");
  expect((await spawned()).map(({ status }) => status)).toEqual(["RUNNING", "CREATED"]);
  proxy.setRule(undefined);
  for (const { id } of await spawned()) {
    expect(await ended(id)).toMatchObject({ status: "COMPLETED", error: null });
    expect(await readRows(id, "id")).toHaveLength(1);
  }
  exports.setClock(undefined);
});

test("an export through a store with random failures holds each run once", async () => {
  const { runs, window } = await projectWith("faults", 60, 9);
  proxy.setRule(atRandom(0.3, 7));
  const { json: created } = await create({ ...window, bulk_export_destination_id: throughProxy });
  const done = await ended(created.id);
  proxy.setRule(undefined);
  expect(done).toMatchObject({ status: "COMPLETED", error: null });
  expect(sortedIds(await readRows(created.id, "id"))).toEqual(runs.map((run) => run.id).toSorted());
  expect(s3.openUploads()).toEqual([]);
});

test("an export of many files does not exceed the listener limit of its signal", async () => {
  const warnings: string[] = [];
  const note = ({ name, message }: Error) => {
    if (name === "MaxListenersExceededWarning") warnings.push(message);
  };
  process.on("warning", note);
  const session_id = await newProject("many-files");
  const times = Array.from({ length: 340 }, (_, i) => day(8, `00:00:00.${String(i).padStart(6, "0")}`));
  await sendRuns(
    call,
    times.map((start_time) => sampleRun("many-files", { start_time })),
  );
  const { id } = await finished({ session_id, start_time: day(8), end_time: day(9) });
  process.off("warning", note);
  expect((await exportKeys(id)).filter((key) => key.endsWith(".parquet"))).toHaveLength(17);
  expect(warnings).toEqual([]);
});

test.each([
  ["a revoked key", KEY_REVOKED, "InvalidAccessKeyId"],
  ["a deleted bucket", NO_SUCH_BUCKET, "NoSuchBucket"],
])("%s is not retried, and the failed export is not marked complete", async (_, fault, word) => {
  const { window } = await projectWith(word, 30, 11);
  proxy.setRule(({ method, number }) => (method === "PUT" && number > 0 ? fault : undefined));
  const { json: created } = await create({ ...window, bulk_export_destination_id: throughProxy });
  const failed = await ended(created.id);
  proxy.setRule(undefined);
  expect(failed).toMatchObject({ status: "FAILED", error: expect.stringContaining(word) });
  const { json: parts } = await call("GET", `/bulk-exports/${created.id}/runs`);
  expect(parts[0]).toMatchObject({
    status: "FAILED",
    retry_number: 1,
    errors: { retry_0: expect.stringContaining(word) },
  });
  expect(await exportKeys(created.id)).toEqual([]);
});

test("a cancelled export stops during a hanging upload, and leaves no files", async () => {
  const { window } = await projectWith("hangs", 30, 13);
  let hangs = 0;
  proxy.setRule(({ method }) => (method === "PUT" && ++hangs ? { kind: "hang" } : undefined));
  const { json: created } = await create({ ...window, bulk_export_destination_id: throughProxy });
  await until(() => hangs > 0, "the upload hangs");
  const cancelled = await call("PATCH", `/bulk-exports/${created.id}`, { status: "Cancelled" });
  expect([cancelled.status, cancelled.json.status]).toEqual([200, "CANCELLED"]);
  await until(
    async () => (await sql`select 1 from bulk_exports where id = ${created.id} and cleaned_at is not null`).length > 0,
    "cleaned up",
  );
  expect(await exportKeys(created.id)).toEqual([]);
  proxy.setRule(undefined);
  // cancelling twice succeeds; cancelling a completed export fails
  expect((await call("PATCH", `/bulk-exports/${created.id}`)).status).toBe(200);
  const done = await finished(window);
  expect((await call("PATCH", `/bulk-exports/${done.id}`, { status: "CANCELLED" })).status).toBe(400);
  expect((await call("PATCH", `/bulk-exports/${done.id}`, { status: "RUNNING" })).status).toBe(422);
});

test("an export is timed out after 72 hours, and exports of a workspace run one after the other", async () => {
  const { window } = await projectWith("slow", 30, 15);
  proxy.setRule(({ method }) => (method === "PUT" ? INTERNAL_ERROR : undefined));
  const { json: slow } = await create({ ...window, bulk_export_destination_id: throughProxy });
  await until(isRunning(slow.id), "it runs");
  const { json: queued } = await create(window);
  await exports.platform.platform.deps.exporter.settled();
  expect((await call("GET", `/bulk-exports/${queued.id}`)).json.status).toBe("CREATED");
  exports.setClock(() => new Date(Date.now() + 72 * 3_600_000 + 5000));
  exports.platform.platform.deps.exporter.wake();
  expect(await ended(slow.id)).toMatchObject({ status: "TIMEDOUT" });
  exports.setClock(undefined);
  proxy.setRule(undefined);
  expect(await ended(queued.id)).toMatchObject({ status: "COMPLETED" });
  // a file may have been uploaded before the cancellation was noticed, but no manifest or _SUCCESS
  expect((await exportKeys(slow.id)).filter((key) => !key.endsWith(".parquet"))).toEqual([]);
});

test("a started run keeps its credentials after a rotation, and later runs use the new ones", async () => {
  const { window } = await projectWith("rotation", 30, 17);
  await sendRuns(call, [sampleRun("rotation", { start_time: day(18) })]);
  const [before, after] = [s3.createKey(), s3.createKey()];
  const destination = await exports.makeDestination(before, proxy.endpoint);
  proxy.setRule(({ method, url }) => (method === "PUT" && url.includes("day=17") ? INTERNAL_ERROR : undefined));
  const { json: created } = await create({ ...window, end_time: day(19), bulk_export_destination_id: destination });
  await until(
    async () => (await sql`select 1 from secrets where purpose = 'export-run'`).length > 0,
    "credentials are kept",
  );
  const rotated = await call("PATCH", `/bulk-exports/destinations/${destination}`, { credentials: after });
  expect(rotated).toMatchObject({ status: 200 });
  // shows which key writes: the new one is now denied
  s3.deny(after.access_key_id, "s3:PutObject");
  proxy.setRule(undefined);
  expect(await ended(created.id)).toMatchObject({ status: "FAILED", error: expect.stringContaining("AccessDenied") });
  const { json: parts } = await call("GET", `/bulk-exports/${created.id}/runs`);
  expect(parts.map((part: { status: string }) => part.status)).toEqual(["COMPLETED", "FAILED"]);
  await until(
    async () => (await sql`select 1 from bulk_exports where id = ${created.id} and cleaned_at is not null`).length > 0,
    "cleaned up",
  );
  expect(await sql`select 1 from secrets where purpose = 'export-run'`).toEqual([]);
});

test("statuses are in title case when configured", async () => {
  const { window } = await projectWith("title", 1, 21);
  const other = await testTracePlatform(
    { HEDDLE_EXPORT_STATUS_CASE: "title", HEDDLE_EXPORT_CONCURRENCY: "0" },
    { db: titleDb },
  );
  expect(nextInstant()).toMatch(/Z$/);
  const session_id = (await other.call("POST", "/sessions", { name: "title" })).json.id;
  const destination = "00000000-0000-4000-8000-000000000001";
  await other.sql`insert into export_destinations (id, tenant_id, display_name, config, credentials_keys)
    select ${destination}, tenant_id, 'd', '{"bucket_name":"traces","prefix":""}', '{}' from projects limit 1`;
  const body = { ...window, session_id, bulk_export_destination_id: destination };
  const { json: once } = await other.call("POST", "/bulk-exports", body);
  expect(once.status).toBe("Created");
  const { json: schedule } = await other.call("POST", "/bulk-exports", { ...body, end_time: null, interval_hours: 1 });
  expect(schedule.status).toBe("IntervalScheduled");
  expect((await other.call("PATCH", `/bulk-exports/${once.id}`, { status: "CANCELED" })).json.status).toBe("Cancelled");
  await other.stop();
});

test("an export that another process has taken over is given up here, and counted as a lost lease", async () => {
  const { window } = await projectWith("taken", 10, 8);
  let isHanging = false;
  proxy.setRule(({ method }) => {
    if (method !== "PUT") return undefined;
    isHanging = true;
    return { kind: "hang" };
  });
  const { json: created } = await create({ ...window, bulk_export_destination_id: throughProxy });
  await until(async () => isHanging, "a file is being uploaded");
  await sql`update bulk_exports set attempt = attempt + 1, lease_until = now() where id = ${created.id}`;
  await expect.poll(async () => (await call("GET", "/metrics")).text).toMatch(/^heddle_export_lease_losses_total 1$/m);
  proxy.setRule(undefined);
  expect(await ended(created.id)).toMatchObject({ status: "COMPLETED" });
});
