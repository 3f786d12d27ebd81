/**
 * The exporter is killed at every named point, then at random while its store fails too, until a hundred attempts at an
 * export were cut off. Whatever ends as COMPLETED holds exactly the ids of the query, once; what does not has no
 * `_SUCCESS`; and no multipart upload is left.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { parquetReadObjects } from "hyparquet";
import { afterAll, expect, test } from "vitest";

import { testDatabase } from "../../server/test/db.ts";
import { startTestS3 } from "../../server/test/s3.ts";
import { type SampleRun, sampleRun } from "../../server/test/sample-runs.ts";
import { atRandom, seeded, startFaultProxy } from "../s3/fault-proxy.ts";
import { ExportProcess } from "./export-process.ts";

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
const AT_ONCE = 12;
const CUT_OFF = 100;

const directory = mkdtempSync(join(tmpdir(), "heddle-export-crash-"));
const db = await testDatabase();
const s3 = await startTestS3();
s3.createBucket("traces");
const proxy = await startFaultProxy(s3.endpoint);
let alive: ExportProcess | undefined;

afterAll(async () => {
  await alive?.kill();
  await proxy.stop();
  await s3.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function start(faultPoints = "", concurrency = AT_ONCE): Promise<ExportProcess> {
  // of who was killed: that a lease ends by itself is tested elsewhere, and the time is for kills
  await db.sql`update bulk_exports set lease_until = null, not_before = now() where cleaned_at is null`;
  return (alive = await ExportProcess.start({
    DATABASE: db.uri,
    DATA_DIR: join(directory, "data"),
    HEDDLE_LOG_LEVEL: "silent",
    NODE_NO_WARNINGS: "1",
    HEDDLE_FAULT_POINTS: faultPoints,
    HEDDLE_EXPORT_FILE_ROWS: "8",
    HEDDLE_EXPORT_RETRIES: "10000",
    HEDDLE_EXPORT_RETRY_MS: "20",
    HEDDLE_EXPORT_LEASE_SECONDS: "2",
    HEDDLE_EXPORT_CONCURRENCY: String(concurrency),
    HEDDLE_EXPORT_WORKSPACE_LIMIT: String(concurrency),
  }));
}

const underWay = async () =>
  (await db.sql`select 1 from bulk_exports where status = 'RUNNING' and lease_until > now()`).length;

let runs: SampleRun[];
let body: object;

test.sequential("an exporter dies at each named point", { timeout: 200_000 }, async () => {
  const first = await start("", 1);
  const at = (day: number, i: number) => `2025-03-0${day}T00:00:${String(i).padStart(2, "0")}.000000Z`;
  const { id: session_id } = await first.request("POST", "/sessions", { name: "crash" });
  runs = Array.from({ length: 20 }, (_, i) => sampleRun("crash", { start_time: at(1, i) }));
  // a file of several parts: 8 rows that can't be compressed
  for (let i = 0; i < 8; i++) {
    const inputs = { noise: randomBytes(900_000).toString("base64") };
    runs.push(sampleRun("crash", { start_time: at(2, i), inputs }));
  }
  await first.request("POST", "/runs/batch", { post: runs });
  const { id } = await first.request("POST", "/bulk-exports/destinations", {
    display_name: "crash",
    config: { bucket_name: "traces", prefix: "p", endpoint_url: proxy.endpoint, region: "us-east-1" },
    credentials: s3.createKey(),
  });
  body = {
    bulk_export_destination_id: id,
    session_id,
    start_time: at(1, 0),
    end_time: "2025-03-04T00:00:00Z",
    compression: "none",
  };
  await first.kill();
  for (const point of POINTS) {
    const one = await start(`${point}:1`, 1);
    await one.request("POST", "/bulk-exports", body).catch(() => {});
    const died = await Promise.race([one.exited, sleep(20_000, "alive", { ref: false })]);
    expect([point, died]).toEqual([point, "SIGKILL"]);
  }
});

test.sequential(
  "exporters that are killed at random under faults finish what they were asked for",
  { timeout: 280_000 },
  async () => {
    const random = seeded(5);
    let cut = 0;
    let kills = 0;
    proxy.setRule(atRandom(0.1, 11));
    while (cut < CUT_OFF) {
      const one = await start();
      const missing =
        AT_ONCE - (await db.sql`select 1 from bulk_exports where status in ('CREATED', 'RUNNING')`).length;
      for (let i = 0; i < missing; i++) await one.request("POST", "/bulk-exports", body);
      await sleep(50 + random() * 600);
      cut += await underWay();
      kills++;
      await one.kill();
    }
    proxy.setRule(undefined);
    const last = await start();
    for (let i = 0; i < 1200; i++) {
      if ((await db.sql`select 1 from bulk_exports where cleaned_at is null`).length === 0) break;
      await sleep(50);
    }
    await last.kill();
    const exports = await db.sql<{ id: string; status: string; attempt: number; error: string | null }[]>`
    select id, status, attempt, error from bulk_exports order by created_at`;
    console.log(`${kills} kills cut off ${cut} attempts at ${exports.length} exports`);
    expect(exports.length).toBeGreaterThanOrEqual(AT_ONCE);
    const expected = runs.map((run) => run.id).toSorted();
    for (const { id, status, error } of exports) {
      expect([status, error]).toEqual(["COMPLETED", null]);
      const keys = await s3.keys("traces", `p/export_id=${id}/`);
      expect(keys).toContain(`p/export_id=${id}/_SUCCESS`);
      const found: string[] = [];
      for (const key of keys.filter((one) => one.endsWith(".parquet"))) {
        const content = await s3.read("traces", key);
        const file = new Uint8Array(content).buffer;
        const rows = (await parquetReadObjects({ file, columns: ["id"] })) as { id: string }[];
        found.push(...rows.map((row) => row.id));
      }
      expect(found.toSorted()).toEqual(expected);
    }
    expect(s3.openUploads()).toEqual([]);
    expect(await db.sql`select 1 from bulk_export_uploads`).toEqual([]);
  },
);
