/**
 * The exporter is killed at every named point, then at random while its store fails too, 30 times in all
 * (`HEDDLE_TEST_KILLS` sets another number). Every export that ends as COMPLETED holds exactly the ids of the query,
 * once; any other has no `_SUCCESS`; and no multipart upload is left.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { parquetReadObjects } from "hyparquet";
import { afterAll, expect, test } from "vitest";

import { type SampleRun, sampleRun } from "../../server/test/sample-runs.ts";
import { atRandom, seeded } from "../s3/fault-proxy.ts";
import { exportReplicas } from "./export-replicas.ts";

const POINTS = [
  "export-after-snapshot",
  "export-after-write",
  "export-upload-begun",
  "export-upload-noted",
  "export-after-upload",
  "export-after-file",
  "export-after-day",
  "export-after-manifest",
  "export-after-success",
  "export-after-completed",
];
/** Number of exports in progress while processes are killed at random, and number of processes. */
const EXPORTS = 12;
const PROCESSES = 3;
const KILLS = Number(process.env["HEDDLE_TEST_KILLS"] ?? 30);

const replicas = await exportReplicas();
const { sql, s3, proxy } = replicas;
let isOver = false;
afterAll(() => {
  isOver = true;
  return replicas.stop();
});

const PATIENT = { HEDDLE_EXPORT_RETRIES: "10000", HEDDLE_EXPORT_RETRY_MS: "20" };

/** Counts exports whose lease a process holds or held until a moment ago. */
const underWay = async () =>
  (await sql`select 1 from bulk_exports where status = 'RUNNING' and lease_until > now() + interval '0.5 seconds'`)
    .length;

let kills = 0;
let runs: SampleRun[];
let body: object;

test.sequential("an export survives an exporter killed at each named point", { timeout: 300_000 }, async () => {
  const first = await replicas.start(PATIENT);
  const at = (day: number, i: number) => `2025-03-0${day}T00:00:${String(i).padStart(2, "0")}.000000Z`;
  const { id: session_id } = await first.request("POST", "/sessions", { name: "crash" });
  runs = Array.from({ length: 20 }, (_, i) => sampleRun("crash", { start_time: at(1, i) }));
  // a file of several parts: 8 rows that cannot be compressed
  for (let i = 0; i < 8; i++) {
    const inputs = { noise: randomBytes(900_000).toString("base64") };
    runs.push(sampleRun("crash", { start_time: at(2, i), inputs }));
  }
  await first.request("POST", "/runs/batch", { post: runs });
  body = {
    bulk_export_destination_id: await replicas.makeDestination(first),
    session_id,
    start_time: at(1, 0),
    end_time: "2025-03-04T00:00:00Z",
    compression: "none",
  };
  await first.kill();
  for (const point of POINTS) {
    // releases the killed process's leases, as no process is left; expiry itself is tested below
    await sql`update bulk_exports set lease_until = null, not_before = now() where cleaned_at is null`;
    const replica = await replicas.start({
      ...PATIENT,
      HEDDLE_FAULT_POINTS: `${point}:1`,
      HEDDLE_EXPORT_CONCURRENCY: "1",
    });
    await replica.request("POST", "/bulk-exports", body).catch(() => {});
    const died = await Promise.race([replica.exited, sleep(20_000, "alive", { ref: false })]);
    expect([point, died]).toEqual([point, "SIGKILL"]);
    kills++;
  }
});

test.sequential("exporters killed at random under faults complete their exports", { timeout: 900_000 }, async () => {
  const random = seeded(5);
  let cut = 0;
  proxy.setRule(atRandom(0.1, 11));
  const killing = async () => {
    while (kills < KILLS && !isOver) {
      const replica = await replicas.start(PATIENT);
      const going = await sql`select 1 from bulk_exports where status in ('CREATED', 'RUNNING')`;
      for (let i = going.length; i < EXPORTS; i++) await replica.request("POST", "/bulk-exports", body);
      await sleep(random() * 700);
      cut += Math.ceil((await underWay()) / PROCESSES);
      kills++;
      await replica.kill();
    }
  };
  await Promise.all(Array.from({ length: PROCESSES }, killing));
  proxy.setRule(undefined);
  const last = await replicas.start({ ...PATIENT, HEDDLE_EXPORT_CONCURRENCY: "12" });
  for (let i = 0; i < 1200; i++) {
    if ((await sql`select 1 from bulk_exports where cleaned_at is null`).length === 0) break;
    await sleep(50);
  }
  await last.kill();
  const exports = await sql<{ id: string; status: string; attempt: number; error: string | null }[]>`
    select id, status, attempt, error from bulk_exports order by created_at`;
  console.log(`${kills} kills cut off about ${cut} attempts at ${exports.length} exports`);
  expect(exports.length).toBeGreaterThanOrEqual(EXPORTS);
  const expected = runs.map((run) => run.id).toSorted();
  for (const { id, status, error } of exports) {
    expect([status, error]).toEqual(["COMPLETED", null]);
    const keys = await s3.keys("traces", `p/export_id=${id}/`);
    expect(keys).toContain(`p/export_id=${id}/_SUCCESS`);
    const found: string[] = [];
    for (const key of keys.filter((key) => key.endsWith(".parquet"))) {
      const content = await s3.read("traces", key);
      const file = new Uint8Array(content).buffer;
      const rows = (await parquetReadObjects({ file, columns: ["id"] })) as { id: string }[];
      found.push(...rows.map((row) => row.id));
    }
    expect(found.toSorted()).toEqual(expected);
  }
  expect(s3.openUploads()).toEqual([]);
  expect(await sql`select 1 from bulk_export_uploads`).toEqual([]);
});
