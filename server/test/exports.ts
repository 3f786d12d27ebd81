import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { DuckDBInstance } from "@duckdb/node-api";
import { expect } from "vitest";

import type { Bucket } from "../src/base/blob/bucket.ts";
import { findDestination, openBucket } from "../src/trace/export-destinations/bucket.ts";
import { atEnd } from "./at-end.ts";
import type { TestDatabase } from "./db.ts";
import { WORKSPACE } from "./principal.ts";
import { testS3, type TestCredentials } from "./s3.ts";
import { testTracePlatform } from "./trace-platform.ts";

/** Returns a day of March 2025, at a time. */
export const marchDay = (n: number, time = "00:00:00.000000"): string =>
  `2025-03-${String(n).padStart(2, "0")}T${time}Z`;

/** Trace platform with an object store, one destination, and the requests that export tests share. */
export async function testExports(env: Record<string, string> = {}, db?: TestDatabase) {
  let clock: (() => Date) | undefined;
  const platform = await testTracePlatform(
    { HEDDLE_EXPORT_RETRY_MS: "50", ...env },
    { now: () => clock?.() ?? new Date(), ...(db && { db }) },
  );
  const { call, sql } = platform;
  const s3 = await testS3();
  s3.createBucket("traces");
  const credentials = s3.createKey();
  const scratch = mkdtempSync(join(tmpdir(), "heddle-read-"));
  atEnd(() => rmSync(scratch, { recursive: true, force: true }));
  const destination = await makeDestination();
  const { deps } = platform.platform;
  const bucket: Bucket = await openBucket((await findDestination(deps, WORKSPACE, destination))!, deps.outbound);
  atEnd(() => bucket.close());

  async function makeDestination(key: TestCredentials = credentials, endpoint_url = s3.endpoint): Promise<string> {
    const { status, json, text } = await call("POST", "/api/v1/bulk-exports/destinations", {
      display_name: "a bucket",
      config: { bucket_name: "traces", prefix: "pre/fix", endpoint_url, region: "us-east-1" },
      credentials: key,
    });
    if (status !== 200) throw new Error(text);
    return json.id as string;
  }

  async function newProject(name: string): Promise<string> {
    return (await call("POST", "/sessions", { name })).json.id as string;
  }

  const create = (body: object) =>
    call("POST", "/api/v1/bulk-exports", { bulk_export_destination_id: destination, ...body });

  /** Resolves with the export once it has ended. */
  async function ended(id: string, seconds = 50) {
    for (const until = Date.now() + seconds * 1000; Date.now() < until; await sleep(50)) {
      const { json } = await call("GET", `/api/v1/bulk-exports/${id}`);
      if (!["CREATED", "RUNNING"].includes(json.status)) return json;
    }
    const [row] = await sql`select status, attempt, failures, error from bulk_exports where id = ${id}`;
    throw new Error(`the export ${id} did not end: ${JSON.stringify(row)}`);
  }

  async function finished(body: object) {
    const created = await create(body);
    expect(created).toMatchObject({ status: 200 });
    const json = await ended(created.json.id);
    expect(json).toMatchObject({ status: "COMPLETED", error: null });
    return json;
  }

  const exportKeys = async (id: string) => (await s3.keys("traces", `pre/fix/export_id=${id}/`)).toSorted();

  async function readManifest(id: string) {
    return JSON.parse((await s3.read("traces", `pre/fix/export_id=${id}/_manifest.json`)).toString());
  }

  /** Reads all rows of an export through DuckDB. */
  async function readRows(id: string, select = "*"): Promise<Record<string, unknown>[]> {
    const keys = (await exportKeys(id)).filter((key) => key.endsWith(".parquet"));
    const paths: string[] = [];
    for (const [i, key] of keys.entries()) {
      const path = join(scratch, `${id}-${i}.parquet`);
      writeFileSync(path, await s3.read("traces", key));
      paths.push(path);
    }
    if (paths.length === 0) return [];
    const connection = await (await DuckDBInstance.create(":memory:")).connect();
    await connection.run("set timezone = 'UTC'");
    const list = paths.map((path) => `'${path}'`).join(", ");
    const reader = await connection.runAndReadAll(`select ${select} from read_parquet([${list}])`);
    return reader.getRowObjectsJson() as Record<string, unknown>[];
  }

  return {
    platform,
    call,
    sql,
    s3,
    scratch,
    credentials,
    destination,
    bucket,
    makeDestination,
    newProject,
    create,
    ended,
    finished,
    keysOf: exportKeys,
    readManifest,
    readRows,
    setClock(now: (() => Date) | undefined) {
      clock = now;
    },
  };
}
