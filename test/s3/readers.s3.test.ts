/**
 * Reads exported files from a bucket with common readers: DuckDB, ClickHouse, pyarrow and Polars, each by the
 * partitions of the path. (The store keeps objects as files, so a bucket is a directory.)
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { DuckDBInstance } from "@duckdb/node-api";
import { beforeAll, describe, expect, test } from "vitest";

import { pythonEnvironment } from "../../scripts/services/python-venv.ts";
import { EXPORT_FIELDS } from "../../server/src/trace/bulk-exports/columns.ts";
import { microseconds, sampleRun, sendRuns } from "../../server/test/sample-runs.ts";
import { testTracePlatform } from "../../server/test/trace-platform.ts";
import { startPolicyServer } from "./versitygw.ts";

const BUCKET = "warehouse";
const REQUIREMENTS = fileURLToPath(new URL("readers-requirements.txt", import.meta.url));
const SCRIPT = fileURLToPath(new URL("readers.py", import.meta.url));

const store = await startPolicyServer();
await store.createBucket(BUCKET);
const { call, clickhouse } = await testTracePlatform({ HEDDLE_EXPORT_FILE_ROWS: "2" });

const python = pythonEnvironment("parquet-readers", REQUIREMENTS, (directory) => {
  try {
    execFileSync(join(directory, "bin", "python"), ["-c", "import pyarrow, polars"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
});

const root = sampleRun("readers", {
  start_time: "2025-03-01T12:00:00.123456Z",
  tags: ["a", "ü b", 'with "quotes"'],
  inputs: { text: "naïve 🐢\n", nested: { list: [1, null] } },
});
const child = sampleRun(
  "readers",
  {
    name: "model",
    run_type: "llm",
    start_time: "2025-03-01T12:00:00.200000Z",
    error: "it broke",
    outputs: { usage_metadata: { input_tokens: 3, output_tokens: 4, total_tokens: 7 } },
  },
  { parent: root },
);
const grandchild = sampleRun("readers", { start_time: "2025-03-01T12:00:01.000000Z" }, { parent: child });
const unfinished = sampleRun("readers", { start_time: "2025-03-09T23:59:59.999999Z" }, { seconds: null });
const RUNS = [root, child, grandchild, unfinished];

/** Expected values of the columns that could be misread. */
const EXPECTED = RUNS.map((run) => ({
  id: run.id,
  start_time: run.start_time,
  end_time: run === unfinished ? null : microseconds(Date.parse(run.start_time) + 1000),
  inputs: run.inputs,
  is_root: run === root || run === unfinished,
  tags: run === root ? root["tags"] : [],
  parent_run_ids: { [child.id]: [root.id], [grandchild.id]: [root.id, child.id] }[run.id] ?? [],
  total_tokens: run === root || run === child ? 7 : 0,
  total_cost: null,
  error: run === child ? "it broke" : null,
  month: 3,
  day: run === unfinished ? 9 : 1,
}));

type Row = Record<string, unknown>;

/** Normalizes a reader's rows. */
function comparable(rows: Row[]): object[] {
  const time = (value: unknown) =>
    value === null || value === undefined ? null : microsecondText(String(value).replace(" ", "T"));
  const list = (value: unknown) => (typeof value === "string" ? (JSON.parse(value) as unknown) : value);
  const read = rows.map((row) => ({
    id: row["id"],
    start_time: time(row["start_time"]),
    end_time: time(row["end_time"]),
    inputs: JSON.parse(row["inputs"] as string) as unknown,
    is_root: row["is_root"],
    tags: list(row["tags"]),
    parent_run_ids: list(row["parent_run_ids"]),
    total_tokens: Number(row["total_tokens"]),
    total_cost: row["total_cost"],
    error: row["error"],
    month: Number(row["month"]),
    day: Number(row["day"]),
  }));
  return read.toSorted((a, b) => (a.start_time! < b.start_time! ? -1 : 1));
}

/** Converts `2025-03-01T12:00:00.2+00` and similar forms to `2025-03-01T12:00:00.200000Z`. */
function microsecondText(text: string): string {
  const [, seconds, fraction = ""] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(?:Z|\+00(?::00)?)?$/.exec(text)!;
  return `${seconds}.${fraction.padEnd(6, "0")}Z`;
}

describe.each([
  { format_version: "v2_beta", compression: "zstd" },
  { format_version: "v1", compression: "gzip" },
  { format_version: "v2_beta", compression: "snappy" },
])("an export in $format_version with $compression", ({ format_version, compression }) => {
  const lists =
    format_version === "v1"
      ? { pyarrow: "string", polars: "String" }
      : { pyarrow: "list<element: string not null>", polars: "List(String)" };
  let directory: string;

  beforeAll(async () => {
    const user = store.createUser();
    await store.allow(BUCKET, user.access_key_id, ["s3:PutObject", "s3:GetObject", "s3:DeleteObject"]);
    const config = { bucket_name: BUCKET, prefix: "pre", endpoint_url: store.endpoint };
    const body = { display_name: "readers", config, credentials: user };
    const { json: destination } = await call("POST", "/api/v1/bulk-exports/destinations", body);
    const { json: found } = await call("GET", "/sessions?name=readers");
    if (found.length === 0) await sendRuns(call, RUNS);
    const { json: projects } = await call("GET", "/sessions?name=readers");
    const { json: created } = await call("POST", "/api/v1/bulk-exports", {
      bulk_export_destination_id: destination.id,
      session_id: projects[0].id,
      start_time: "2025-03-01T00:00:00Z",
      end_time: "2025-03-10T00:00:00Z",
      format_version,
      compression,
    });
    let status = created.status as string;
    for (let left = 200; left > 0 && ["CREATED", "RUNNING"].includes(status); left--) {
      await sleep(50);
      status = (await call("GET", `/api/v1/bulk-exports/${created.id}`)).json.status;
    }
    if (status !== "COMPLETED") throw new Error(`the export is ${status}`);
    directory = join(store.directory, BUCKET, "pre", `export_id=${created.id}`);
  });

  test("is read by DuckDB", async () => {
    const connection = await (await DuckDBInstance.create(":memory:")).connect();
    await connection.run("set timezone = 'UTC'");
    const reader = await connection.runAndReadAll(
      `select * from read_parquet('${directory}/**/*.parquet', hive_partitioning = true)`,
    );
    expect(comparable(reader.getRowObjectsJson() as Row[])).toEqual(EXPECTED);
  });

  test("is read by ClickHouse", async () => {
    const rows = await clickhouse.rows<Row>({
      name: "readers",
      query: `select * from file('${directory}/**/*.parquet') limit 10 settings use_hive_partitioning = 1`,
    });
    expect(comparable(rows)).toEqual(EXPECTED);
  });

  test.skipIf(!python)("is read by pyarrow and Polars, with matching types", () => {
    const printed = execFileSync(join(python!, "bin", "python"), [SCRIPT, directory], { encoding: "utf8" });
    const read = JSON.parse(printed) as Record<
      "pyarrow" | "polars",
      { types: Record<string, string>; nullable: Record<string, boolean>; rows: Row[]; on_the_9th: number }
    >;
    for (const { rows, on_the_9th } of Object.values(read)) {
      expect(comparable(rows)).toEqual(EXPECTED);
      // one partition, found by the path
      expect(on_the_9th).toBe(1);
    }
    expect(Object.keys(read.pyarrow.nullable)).toEqual(EXPORT_FIELDS);
    const time = "timestamp[us, tz=UTC]";
    expect(read.pyarrow.types).toMatchObject({
      id: "string",
      ...{ start_time: time, end_time: time, first_token_time: time },
      is_root: "bool",
      total_tokens: "int64",
      total_cost: "double",
      tags: lists.pyarrow,
      parent_run_ids: lists.pyarrow,
      year: "int32",
      month: "int32",
      day: "int32",
    });
    expect(read.pyarrow.nullable).toMatchObject({ id: false, start_time: false, end_time: true, outputs: true });
    expect(read.polars.types).toMatchObject({
      start_time: "Datetime(time_unit='us', time_zone='UTC')",
      tags: lists.polars,
      total_tokens: "Int64",
      total_cost: "Float64",
      is_root: "Boolean",
    });
  });
});
