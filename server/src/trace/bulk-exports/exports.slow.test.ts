import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";

import { DuckDBInstance } from "@duckdb/node-api";
import { expect, test, vi } from "vitest";

import { marchDay as day, testExports } from "../../../test/exports.ts";
import { WORKSPACE } from "../../../test/principal.ts";
import { sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { EXPORT_FIELDS } from "./columns.ts";

const exports = await testExports({ HEDDLE_EXPORT_FILE_ROWS: "20", HEDDLE_EXPORT_FILE_MB: "1" });
const { call, sql, s3, newProject, create, ended, finished, keysOf: exportKeys, readManifest, readRows } = exports;

test("a window over three days is exported completely and once, in files per day, with its manifest", async () => {
  const project = await newProject("three days");
  const runs = [...Array(50).keys()].map((i) =>
    sampleRun("three days", { start_time: day(1, `10:00:00.0000${String(i).padStart(2, "0")}`) }),
  );
  runs.push(...[...Array(5).keys()].map((i) => sampleRun("three days", { start_time: day(3, `23:59:59.99999${i}`) })));
  // at the bounds of the window: inclusive start, exclusive end
  runs.push(sampleRun("three days", { start_time: day(1) }), sampleRun("three days", { start_time: day(4) }));
  await sendRuns(call, runs);
  const done = await finished({ session_id: project, start_time: day(1), end_time: day(4) });
  expect(done).toMatchObject({ format: "Parquet", format_version: "v2_beta", compression: "zstandard" });
  expect(done.progress).toMatchObject({ rows_total: 56, rows_written: 56, files_written: 4, percent: 100 });
  const tail = `tenant_id=${done.tenant_id}/session_id=${project}/runs/year=2025/month=03`;
  const path = `pre/fix/export_id=${done.id}`;
  expect(await exportKeys(done.id)).toEqual([
    `${path}/_SUCCESS`,
    `${path}/_manifest.json`,
    ...["day=01/runs-00001", "day=01/runs-00002", "day=01/runs-00003", "day=03/runs-00001"].map(
      (file) => `${path}/${tail}/${file}.parquet`,
    ),
  ]);
  const rows = await readRows(done.id, "id");
  expect(rows.map((row) => row["id"]).sort()).toEqual(
    runs
      .slice(0, 56)
      .map((run) => run.id)
      .sort(),
  );

  const manifest = await readManifest(done.id);
  expect(manifest).toMatchObject({
    query_count: 56,
    rows: 56,
    deleted_count: 0,
    schema_version: 1,
    sizes_read_back: true,
  });
  for (const file of manifest.files) {
    const content = await s3.read("traces", file.key);
    expect(file.bytes).toBe(content.length);
    expect(file.sha256).toBe(createHash("sha256").update(content).digest("hex"));
  }
  expect(manifest.files.at(-1)).toMatchObject({
    rows: 5,
    min_start_time: day(3, "23:59:59.999990"),
    max_start_time: day(3, "23:59:59.999994"),
  });

  const { json: parts } = await call("GET", `/bulk-exports/${done.id}/runs`);
  expect(
    parts.map((part: { status: string; progress: { rows_written: number } }) => [
      part.status,
      part.progress.rows_written,
    ]),
  ).toEqual([
    ["COMPLETED", 51],
    ["COMPLETED", 0],
    ["COMPLETED", 5],
  ]);
  expect(parts[0].metadata.result.exported_files[0]).toBe(`traces/${path}/${tail}/day=01/runs-00001.parquet`);
  const { json: single } = await call("GET", `/bulk-exports/${done.id}/runs/${parts[2].id}`);
  expect(single).toEqual(parts[2]);
  expect(s3.openUploads()).toEqual([]);
  expect(await exports.platform.clickhouse.rows({ name: "t", query: "select * from export_keys limit 1" })).toEqual([]);
});

test("paths of an export have no segment for the bucket when include_bucket_in_prefix is false", async () => {
  const session_id = await newProject("without bucket");
  await sendRuns(call, [sampleRun("without bucket", { start_time: day(1) })]);
  const { json: destination } = await call("POST", "/api/v1/bulk-exports/destinations", {
    display_name: "without bucket",
    config: {
      bucket_name: "traces",
      prefix: "pre/fix",
      endpoint_url: s3.endpoint,
      region: "us-east-1",
      include_bucket_in_prefix: false,
    },
    credentials: exports.credentials,
  });
  const window = { session_id, start_time: day(1), end_time: day(2) };
  const done = await finished({ ...window, bulk_export_destination_id: destination.id });
  const path = `pre/fix/export_id=${done.id}`;
  const tail = `tenant_id=${done.tenant_id}/session_id=${session_id}/runs/year=2025/month=03/day=01`;
  expect(await exportKeys(done.id)).toContain(`${path}/${tail}/runs-00001.parquet`);
  const { json: parts } = await call("GET", `/bulk-exports/${done.id}/runs`);
  expect(parts[0].metadata.prefix).toBe(path);
  expect(parts[0].metadata.result).toMatchObject({
    export_path: `${path}/${tail}`,
    exported_files: [`${path}/${tail}/runs-00001.parquet`],
  });
  expect(await readManifest(done.id)).toMatchObject({ path });
});

test("files keep their size where runs become heavy, and where a day begins with heavy ones", async () => {
  const project = await newProject("heavy");
  const heavy = (start_time: string) =>
    sampleRun("heavy", { start_time, outputs: { noise: randomBytes(100_000).toString("base64") } });
  const runs = [...Array(20).keys()].map((i) => sampleRun("heavy", { start_time: day(1, `10:00:${i + 10}.000000`) }));
  for (const d of [1, 2]) runs.push(...[...Array(15).keys()].map((i) => heavy(day(d, `12:00:${i + 10}.000000`))));
  await sendRuns(call, runs);
  const done = await finished({ session_id: project, start_time: day(1), end_time: day(3) });
  expect(done.progress).toMatchObject({ rows_total: 50, rows_written: 50 });
  const { files } = await readManifest(done.id);
  expect(files[0].rows).toBe(20);
  for (const file of files.slice(1)) expect(file.bytes).toBeLessThan(1.3e6);
  const rows = await readRows(done.id, "id");
  expect(rows.map((row) => row["id"]).sort()).toEqual(runs.map((run) => run.id).sort());
});

test("exports all 29 fields with the API's values and types", async () => {
  const project = await newProject("fields");
  const root = sampleRun("fields", {
    start_time: day(1, "12:00:00.123456"),
    tags: ["a", "ü b"],
    extra: { metadata: { k: 1 } },
  });
  const child = sampleRun(
    "fields",
    {
      name: "model",
      run_type: "llm",
      start_time: day(1, "12:00:00.200000"),
      error: "it broke",
      outputs: { usage_metadata: { input_tokens: 3, output_tokens: 4, total_tokens: 7 } },
      events: [{ name: "new_token", time: day(1, "12:00:00.300000") }],
    },
    { parent: root },
  );
  await sendRuns(call, [root, child]);
  await call("POST", "/feedback", { run_id: root.id, key: "good", score: 0.5, value: "yes", trace_id: root.id });
  const done = await finished({ session_id: project, start_time: day(1), end_time: day(2) });
  const rows = await readRows(done.id);
  expect(rows).toHaveLength(2);
  // without the path segments that DuckDB would read as columns: the copied files are in one directory
  expect(Object.keys(rows[0]!)).toEqual(EXPORT_FIELDS);
  expect(EXPORT_FIELDS).toHaveLength(29);
  for (const run of [root, child]) {
    const { json: wire } = await call("GET", `/runs/${run.id}`);
    const row = rows.find((row) => row["id"] === run.id)!;
    expect(comparable({ ...row, is_root: undefined })).toEqual(
      comparable({ ...pick(wire, EXPORT_FIELDS), tenant_id: done.tenant_id, is_root: undefined }),
    );
    expect(row["is_root"]).toBe(run === root);
  }
  const types = await readTypes(done.id);
  expect(types).toMatchObject({
    id: "VARCHAR",
    is_root: "BOOLEAN",
    start_time: "TIMESTAMP WITH TIME ZONE",
    end_time: "TIMESTAMP WITH TIME ZONE",
    first_token_time: "TIMESTAMP WITH TIME ZONE",
    tags: "VARCHAR[]",
    parent_run_ids: "VARCHAR[]",
    total_tokens: "BIGINT",
    total_cost: "DOUBLE",
    inputs: "VARCHAR",
    feedback_stats: "VARCHAR",
  });

  const old = await finished({
    session_id: project,
    start_time: day(1),
    end_time: day(2),
    format_version: "v1",
    compression: "gzip",
  });
  expect(await readTypes(old.id)).toMatchObject({
    tags: "VARCHAR",
    parent_run_ids: "VARCHAR",
    start_time: "TIMESTAMP WITH TIME ZONE",
  });
  const lists = await readRows(old.id, "tags, parent_run_ids, id");
  expect(JSON.parse(lists.find((row) => row["id"] === root.id)!["tags"] as string)).toEqual(["a", "ü b"]);
  expect(JSON.parse(lists.find((row) => row["id"] === child.id)!["parent_run_ids"] as string)).toEqual([root.id]);
});

const TIMES = ["start_time", "end_time", "first_token_time"];
const JSONS = ["inputs", "outputs", "extra", "events", "feedback_stats"];
const NUMBERS = /_(tokens|cost)$/;

const pick = (from: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, from[name] ?? null]));

/** Converts a row of DuckDB or a run of the API to a common form. */
function comparable(row: Record<string, unknown>): Record<string, unknown> {
  const alike = (name: string, value: unknown) => {
    if (value === null || value === undefined) return null;
    if (TIMES.includes(name))
      return String(value)
        .replace(" ", "T")
        .replace("+00", "")
        .replace(/\.?0+$/, "");
    if (JSONS.includes(name) && typeof value === "string") return JSON.parse(value) as unknown;
    return NUMBERS.test(name) ? Number(value) : value;
  };
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, alike(name, value)]));
}

async function readTypes(id: string): Promise<Record<string, string>> {
  const [row] = await readRows(id, `${EXPORT_FIELDS.map((name) => `typeof("${name}") as "${name}"`).join(", ")}`);
  return row as Record<string, string>;
}

test.each(["none", "gzip", "snappy", "zstd"])(
  "files compressed with %s hold the chosen fields in column order",
  async (compression) => {
    const project = await newProject(`some fields ${compression}`);
    await sendRuns(call, [sampleRun(`some fields ${compression}`, { start_time: day(1) })]);
    const window = { start_time: day(1), end_time: day(2) };
    const done = await finished({ session_id: project, ...window, compression, export_fields: ["name", "id"] });
    expect(done.export_fields).toEqual(["id", "name"]);
    const [row] = await readRows(done.id);
    expect(Object.keys(row!)).toEqual(["id", "name"]);
    const codecs = { none: "UNCOMPRESSED", gzip: "GZIP", snappy: "SNAPPY", zstd: "ZSTD" } as Record<string, string>;
    const connection = await (await DuckDBInstance.create(":memory:")).connect();
    const metadata = await connection.runAndReadAll(
      `select distinct compression from parquet_metadata('${join(exports.scratch, `${done.id}-0.parquet`)}')`,
    );
    expect(metadata.getRowObjectsJson()).toEqual([{ compression: codecs[compression] }]);
  },
);

test("a head has the totals of its trace as in lists: of calls that began before it, and where it stands in for a root", async () => {
  const project = await newProject("heads");
  const outputs = { usage_metadata: { input_tokens: 3, output_tokens: 7, total_tokens: 10, total_cost: 0.1 } };
  const llm = (parent: ReturnType<typeof sampleRun>, start_time: string) => ({
    ...sampleRun("heads", { run_type: "llm", outputs }, { parent }),
    start_time,
    end_time: day(1, "13:00:00"),
  });
  const root = sampleRun("heads", { start_time: day(1, "12:00:00.000000") });
  const missing = sampleRun("heads", { start_time: day(1, "12:10:00.000000") });
  const head = sampleRun("heads", { start_time: day(1, "12:10:01.000000") }, { parent: missing });
  await sendRuns(call, [
    root,
    llm(root, day(1, "11:59:55.000000")),
    head,
    llm(head, day(1, "12:10:02.000000")),
    llm(head, day(1, "12:10:03.000000")),
  ]);
  const done = await finished({ session_id: project, start_time: day(1, "12:00:00"), end_time: day(2) });
  const rows = await readRows(done.id);
  for (const { id } of [root, head]) {
    const { json: listed } = await call("GET", `/runs/${id}`);
    const exported = rows.find((row) => row["id"] === id)!;
    expect([Number(exported["total_tokens"]), exported["total_cost"]]).toEqual([
      listed.total_tokens,
      Number(listed.total_cost),
    ]);
    expect(listed.total_tokens).toBe(id === root.id ? 10 : 20);
  }
});

test("a filter selects rows, and a window without any completes with a manifest and no file", async () => {
  const project = await newProject("filtered");
  const runs = [...Array(30).keys()].map((i) =>
    sampleRun("filtered", {
      start_time: day(5, `00:00:${String(i).padStart(2, "0")}.000000`),
      run_type: i % 3 === 0 ? "tool" : "chain",
    }),
  );
  await sendRuns(call, runs);
  const window = { session_id: project, start_time: day(5), end_time: day(6) };
  const some = await finished({ ...window, filter: 'eq(run_type, "tool")' });
  expect((await readRows(some.id, "id")).map((row) => row["id"]).sort()).toEqual(
    runs
      .filter((run) => run.run_type === "tool")
      .map((run) => run.id)
      .sort(),
  );
  const none = await finished({ ...window, filter: 'eq(run_type, "llm")' });
  expect(await exportKeys(none.id)).toEqual(
    ["_SUCCESS", "_manifest.json"].map((name) => `pre/fix/export_id=${none.id}/${name}`),
  );
  expect(await readManifest(none.id)).toMatchObject({ query_count: 0, rows: 0, files: [] });
});

test("rejects an invalid request with the name of the field", async () => {
  const session_id = await newProject("validation");
  const once = { session_id, start_time: day(1), end_time: day(2) };
  const wrong: [object, string][] = [
    [{ ...once, end_time: undefined }, "end_time"],
    [{ ...once, interval_hours: 1 }, "end_time"],
    [{ ...once, end_time: day(1) }, "end_time"],
    [{ ...once, end_time: undefined, interval_hours: 0 }, "interval_hours"],
    [{ ...once, end_time: undefined, interval_hours: 169 }, "interval_hours"],
    [{ ...once, end_time: undefined, interval_hours: 1.5 }, "interval_hours"],
    [{ ...once, start_time: "yesterday" }, "start_time"],
    [{ ...once, export_fields: ["id", "colour"] }, "export_fields"],
    [{ ...once, export_fields: [] }, "export_fields"],
    [{ ...once, filter: "eq(colour, 1)" }, "filter"],
    [{ ...once, filter: "eq(" }, "filter"],
    [{ ...once, format_version: "v3" }, "format_version"],
    [{ ...once, compression: "lzma" }, "compression"],
    [{ ...once, session_id: "x" }, "session_id"],
    [{ ...once, all_experiments: true }, "all_experiments"],
    [{ ...once, filters: "eq(is_root, true)" }, "filters"],
  ];
  for (const [body, field] of wrong) {
    const { status, text } = await create(body);
    expect([status, text.includes(field)], `${field}: ${text}`).toEqual([422, true]);
  }
  const harmless = await create({ ...once, all_experiments: false });
  expect(harmless.status).toBe(200);
  await ended(harmless.json.id);
  const unknown = "00000000-0000-4000-8000-00000000dead";
  expect((await create({ ...once, session_id: unknown })).status).toBe(404);
  expect((await create({ ...once, bulk_export_destination_id: unknown })).status).toBe(404);
  expect((await call("GET", `/api/v1/bulk-exports/${unknown}`)).status).toBe(404);
  expect((await call("PATCH", `/api/v1/bulk-exports/${unknown}`, {})).status).toBe(404);
  expect((await call("GET", `/api/v1/bulk-exports/runs?source_bulk_export_id=${unknown}`)).status).toBe(404);
});

test("schedules spawn each window once, ten minutes after its end, until they are cancelled", async () => {
  const project = await newProject("scheduled");
  const runs = [...Array(8).keys()].map((i) =>
    sampleRun("scheduled", { start_time: `2031-01-01T0${i}:30:00.000000Z` }),
  );
  await sendRuns(call, runs);
  const created = await create({ session_id: project, start_time: "2031-01-01T00:00:00Z", interval_hours: 2 });
  expect(created.json).toMatchObject({ status: "RUNNING", end_time: null, interval_hours: 2 });
  const spawned = async () => {
    const rows = await sql<{ id: string; window_n: number; start_time: Date; end_time: Date; status: string }[]>`
      select id, window_n, start_time, end_time, status from bulk_exports
      where source_bulk_export_id = ${created.json.id} order by window_n`;
    return rows;
  };
  const { exporter } = exports.platform.platform.deps;
  /** Sets the clock, and expects this number of exports after the passes of that time. */
  const at = async (time: string, count: number) => {
    exports.setClock(() => new Date(time));
    exporter.wake();
    await exporter.settled();
    expect(await spawned()).toHaveLength(count);
  };
  await at("2031-01-01T02:09:59Z", 0);
  await at("2031-01-01T02:10:00Z", 1);
  // the clock goes back and forth: no window is exported twice
  await at("2031-01-01T01:00:00Z", 1);
  // after a downtime, each missed window is exported
  await at("2031-01-01T08:15:00Z", 4);
  const all = await spawned();
  expect(
    all.map((spawned) => [
      spawned.window_n,
      spawned.start_time.toISOString().slice(11, 16),
      spawned.end_time.toISOString().slice(11, 16),
    ]),
  ).toEqual([
    [0, "00:00", "02:00"],
    [1, "02:00", "04:00"],
    [2, "04:00", "06:00"],
    [3, "06:00", "08:00"],
  ]);
  for (const run of all)
    expect(await ended(run.id)).toMatchObject({ status: "COMPLETED", source_bulk_export_id: created.json.id });
  const ids = (await Promise.all(all.map((run) => readRows(run.id, "id")))).flat().map((row) => row["id"]);
  expect(ids.sort()).toEqual(runs.map((run) => run.id).sort());
  const { json: parts } = await call("GET", `/bulk-exports/runs?source_bulk_export_id=${created.json.id}`);
  expect(parts).toHaveLength(4);

  // seventy-two hours never end a schedule
  exports.setClock(() => new Date("2031-01-01T08:16:00Z"));
  await sql`update bulk_exports set started_at = '2030-01-01' where id = ${created.json.id}`;
  exporter.wake();
  await exporter.settled();
  expect((await call("GET", `/bulk-exports/${created.json.id}`)).json.status).toBe("RUNNING");
  const cancelled = await call("PATCH", `/bulk-exports/${created.json.id}`, { status: "Canceled" });
  expect(cancelled.json.status).toBe("CANCELLED");
  await at("2031-01-02T00:00:00Z", 4);
  expect((await spawned()).every((run) => run.status === "COMPLETED")).toBe(true);
  exports.setClock(undefined);
});

test("schedules wait while the workspace's plan lacks exports", async () => {
  const organization = (
    await sql<{ id: string }[]>`
    insert into organizations (id, display_name) values (gen_random_uuid(), 'o') returning id`
  )[0]!.id;
  await sql`insert into workspaces (id, organization_id, display_name, plan)
    values (${WORKSPACE}, ${organization}, 'w', 'developer')`;
  const { exporter } = exports.platform.platform.deps;
  const session_id = await newProject("plan");
  // its second window is in the future
  const start_time = new Date(Date.now() - 169 * 3_600_000).toISOString();
  const { json: created } = await create({ session_id, start_time, interval_hours: 168 });
  const spawned = async () =>
    (await sql`select 1 from bulk_exports where source_bulk_export_id = ${created.id}`).length;
  exporter.wake();
  await exporter.settled();
  expect(await spawned()).toBe(0);
  await sql`update workspaces set plan = 'plus' where id = ${WORKSPACE}`;
  exporter.wake();
  await vi.waitUntil(async () => (await spawned()) === 1, { timeout: 30_000 });
  await call("PATCH", `/bulk-exports/${created.id}`, {});
  await sql`delete from workspaces where id = ${WORKSPACE}`;
});

test("a schedule that is years behind catches up without filling the queue, and leaves little when cancelled", async () => {
  const session_id = await newProject("behind");
  const { json: created } = await create({ session_id, start_time: "1999-01-01T00:00:00Z", interval_hours: 1 });
  // queued after the windows spawned already, ahead of later ones
  const { json: other } = await create({ session_id, start_time: day(1), end_time: day(2) });
  expect(await ended(other.id)).toMatchObject({ status: "COMPLETED" });
  await call("PATCH", `/bulk-exports/${created.id}`, {});
  const windows = await sql<{ window_n: number; status: string }[]>`
    select window_n, status from bulk_exports where source_bulk_export_id = ${created.id} order by window_n`;
  expect(windows.map((window) => window.window_n)).toEqual([...windows.keys()]);
  expect(windows.filter((window) => window.status !== "COMPLETED").length).toBeLessThanOrEqual(10);
  expect(windows.length).toBeGreaterThan(0);
});

test("an export's statements have the priority of its workspace's share", async () => {
  const session_id = await newProject("share");
  await sendRuns(call, [sampleRun("share", { start_time: day(1) })]);
  const { clickhouse } = exports.platform;
  await clickhouse.forTenant("light").rows({ name: "t", query: "select 1" });
  clickhouse.share!.charge(WORKSPACE, 60_000);
  // the export pauses for this query, so that its statements can be observed
  const query = "select sleepEachRow(0.1) from numbers(20) settings max_block_size = 1";
  const busy = clickhouse.forTenant("light").rows({ name: "t", query });
  const { json: created } = await create({ session_id, start_time: day(1), end_time: day(2) });
  const priorities = new Set<string>();
  const look = async () => {
    const rows = await clickhouse.rows<{ priority: string }>({
      name: "t",
      query:
        "select Settings['priority'] as priority from system.processes where query like '%export_keys%' and query not like '%processes%'",
    });
    for (const { priority } of rows) priorities.add(priority);
    return priorities.size > 0;
  };
  await vi.waitUntil(look, { timeout: 20_000, interval: 5 });
  expect([...priorities]).toEqual(["2"]);
  await busy;
  expect(await ended(created.id)).toMatchObject({ status: "COMPLETED" });
});
