/**
 * Two exporting processes on one Postgres, one ClickHouse and one store: when one is dead or frozen, the other takes
 * over its exports after the lease expires, and a process that thaws corrupts nothing.
 */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { afterAll, afterEach, expect, test } from "vitest";

import { type SampleRun, sampleRun } from "../../server/test/sample-runs.ts";
import type { ExportProcess } from "./export-process.ts";
import { exportReplicas } from "./export-replicas.ts";
import { until } from "../../server/test/until.ts";

const LEASE_SECONDS = 2;

const replicas = await exportReplicas();
const { sql, s3, proxy, start } = replicas;
afterEach(async () => {
  proxy.setRule(undefined);
  await replicas.killAll();
});
afterAll(() => replicas.stop());

let destination: string;

/** Creates a project with `n` runs, the first at `from`, `stepMs` apart; creates the destination once. */
async function project(by: ExportProcess, name: string, from: number, n: number, stepMs: number) {
  const { id } = await by.request("POST", "/sessions", { name });
  const time = (i: number) => `${new Date(from + i * stepMs).toISOString().slice(0, 23)}000Z`;
  const runs = Array.from({ length: n }, (_, i) => sampleRun(name, { start_time: time(i) }));
  await by.request("POST", "/runs/batch", { post: runs });
  destination ??= await replicas.makeDestination(by);
  return { session_id: id, bulk_export_destination_id: destination, runs };
}

/** Returns the ids in the bucket, checking each file against the manifest. */
async function exportedIds(exportId: string): Promise<string[]> {
  const prefix = `p/export_id=${exportId}/`;
  const manifest = JSON.parse((await s3.read("traces", `${prefix}_manifest.json`)).toString()) as {
    files: { key: string; sha256: string }[];
  };
  const keys = await s3.keys("traces", prefix);
  expect(keys.filter((key) => key.endsWith(".parquet"))).toEqual(manifest.files.map((file) => file.key).toSorted());
  expect(keys).toContain(`${prefix}_SUCCESS`);
  const found: string[] = [];
  for (const { key, sha256 } of manifest.files) {
    const content = await s3.read("traces", key);
    expect([key, createHash("sha256").update(content).digest("hex")]).toEqual([key, sha256]);
    const file = new Uint8Array(content).buffer;
    const rows = (await parquetReadObjects({ file, columns: ["id"], compressors })) as { id: string }[];
    found.push(...rows.map((row) => row.id));
  }
  return found.toSorted();
}

const sorted = (runs: SampleRun[]) => runs.map((run) => run.id).toSorted();
const exportRow = async (id: string) =>
  (await sql<{ status: string; attempt: number }[]>`select status, attempt from bulk_exports where id = ${id}`)[0]!;
const isOver = (id: string) => async () => (await exportRow(id)).status === "COMPLETED";
const exportFiles = async (id: string) =>
  (
    await sql`select 1 from bulk_export_files f join bulk_export_runs r on r.id = f.run_id
      where r.bulk_export_id = ${id}`
  ).length;

const DAY = Date.UTC(2025, 2, 1);
const window = { start_time: "2025-03-01T00:00:00Z", end_time: "2025-03-02T00:00:00Z" };

test("two processes spawn each window of a schedule once, and export each once", async () => {
  const first = await start();
  const hours = 24;
  const from = Math.floor(Date.now() / 3_600_000) * 3_600_000 - (hours + 1) * 3_600_000;
  const { runs, ...where } = await project(first, "scheduled", from, hours * 2, 1_800_000);
  await start();
  const start_time = new Date(from).toISOString();
  const { id } = await first.request("POST", "/bulk-exports", { ...where, start_time, interval_hours: 1 });
  const spawned = () =>
    sql<{ id: string; window_n: number; status: string; attempt: number }[]>`
      select id, window_n, status, attempt from bulk_exports where source_bulk_export_id = ${id} order by window_n`;
  await until(
    async () => {
      const all = await spawned();
      return all.length >= hours && all.every((run) => run.status === "COMPLETED");
    },
    "all windows were exported",
    120,
  );
  const windows = await spawned();
  // the hour that ended less than ten minutes ago may or may not be due
  expect(windows.map((window) => window.window_n)).toEqual(windows.map((_, n) => n));
  expect(windows.filter((window) => window.attempt !== 1)).toEqual([]);
  const ids = await Promise.all(windows.slice(0, hours).map((window) => exportedIds(window.id)));
  expect(ids.flat().toSorted()).toEqual(sorted(runs));
  await first.request("PATCH", `/bulk-exports/${id}`, { status: "CANCELLED" });
});

test("another process takes over a dead process's export after the lease, behind the last finished file", async () => {
  const first = await start();
  const { runs, ...where } = await project(first, "killed", DAY, 20, 1000);
  let writes = 0;
  proxy.setRule(({ method, url }) => {
    if (url.includes("runs-00001") && method === "POST" && url.includes("uploads")) writes++;
    return url.includes("runs-00002") && method !== "GET" ? { kind: "hang" } : undefined;
  });
  const { id } = await first.request("POST", "/bulk-exports", { ...where, ...window });
  await until(async () => (await exportFiles(id)) === 1, "a file is finished");
  await start();
  const killedAt = Date.now();
  await first.kill();
  await until(async () => (await exportRow(id)).attempt === 2, "the other one has it");
  // not before the lease expires: the dead process renewed it at most a second and a bit before its death
  expect(Date.now() - killedAt).toBeGreaterThan((LEASE_SECONDS - 1.5) * 1000);
  proxy.setRule(({ method, url }) => {
    if (url.includes("runs-00001") && method === "POST" && url.includes("uploads")) writes++;
    return undefined;
  });
  await until(isOver(id), "it is completed", 60);
  expect(await exportedIds(id)).toEqual(sorted(runs));
  expect(writes).toBe(1);
  await until(() => s3.openUploads().length === 0, "no upload is left");
});

test.each([
  ["in the middle of a file", "runs-00002"],
  ["between the manifest and the end", "_SUCCESS"],
])("a process frozen beyond its lease %s changes nothing when it continues", async (_, at) => {
  const frozen = await start();
  const { runs, ...where } = await project(frozen, `frozen ${at}`, DAY, 20, 1000);
  let arrived = 0;
  // the request succeeds, but only after the other process has sent it too
  proxy.setRule(({ method, url }) =>
    url.includes(at) && method === "PUT" && ++arrived === 1 ? { kind: "delay", ms: 9000 } : undefined,
  );
  const { id } = await frozen.request("POST", "/bulk-exports", { ...where, ...window });
  await until(() => arrived > 0, "it is where it is to be frozen");
  frozen.signal("SIGSTOP");
  await start();
  await until(isOver(id), "the other one has completed it", 60);
  const before = await exportedIds(id);
  expect(before).toEqual(sorted(runs));
  frozen.signal("SIGCONT");
  await sleep(9000);
  expect(await exportRow(id)).toMatchObject({ status: "COMPLETED", attempt: 2 });
  expect(await exportedIds(id)).toEqual(before);
  await until(() => s3.openUploads().length === 0, "no upload is left");
});
