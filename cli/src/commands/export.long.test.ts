import type { AddressInfo } from "node:net";

import { serve } from "@hono/node-server";
import { afterAll, expect, test } from "vitest";

import { createTraceApp } from "../../../server/src/trace-app.ts";
import { testDatabase } from "../../../server/test/db.ts";
import { marchDay, testExports } from "../../../server/test/exports.ts";
import { openGuard } from "../../../server/test/principal.ts";
import { sampleRun, sendRuns } from "../../../server/test/sample-runs.ts";
import { runHeddle } from "../../test/run-heddle.ts";
import { progressLine } from "../core/trace-api.ts";

const db = await testDatabase();
const exports = await testExports({ HEDDLE_EXPORT_FILE_ROWS: "10" }, db);
const { deps } = exports.platform.platform;
const server = serve({ fetch: createTraceApp(deps, openGuard).fetch, port: 0, hostname: "127.0.0.1" });
afterAll(() => new Promise((resolve) => server.close(resolve)));
await new Promise((resolve) => server.once("listening", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const heddle = (...args: string[]) =>
  runHeddle(["export", ...args], { DATABASE_URI: db.uri, HEDDLE_TRACE_URL: url, HEDDLE_DATA_DIR: deps.dataDir });

test("creates, watches, lists and verifies an export, and reports damaged files in the bucket", async () => {
  const project = await exports.newProject("cli");
  await sendRuns(
    exports.call,
    Array.from({ length: 25 }, () => sampleRun("cli", { start_time: marchDay(2) })),
  );
  const window = ["--from", marchDay(1), "--to", marchDay(4)];
  const created = await heddle(
    "create",
    "--destination",
    exports.destination,
    "--project",
    project,
    ...window,
    "--watch",
  );
  expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\S+ COMPLETED\n$/) });
  expect(created.stderr).toContain("100 % COMPLETED, 25 of 25 rows");
  const id = created.stdout.split(" ")[0]!;

  const listed = await heddle("list");
  expect(listed.stdout).toMatch(new RegExp(`${id} +COMPLETED +100 % +25 `));
  const sound = await heddle("verify", id);
  expect(sound).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^25 rows in 3 files, \d+ bytes; the query had 25\n$/),
  });

  const { bucket } = exports;
  const manifestAt = (await exports.keysOf(id)).find((key) => key.endsWith("/_manifest.json"))!;
  const written = (await exports.s3.read("traces", manifestAt)).toString();
  const cases: [string, RegExp][] = [
    [written.replace('"rows": 25,', '"rows": 26,'), /WRONG {2}25 rows, the manifest says 26/],
    ["{}", /WRONG {2}_manifest.json is not a valid manifest/],
    // only the platform can validate these
    [
      written.replace('"query_count": 25,', '"query_count": 26,').replace('"deleted_count": 0,', '"deleted_count": 1,'),
      /WRONG {2}the manifest lists 26 rows of the query, but the platform counted 25/,
    ],
  ];
  for (const [manifest, wrong] of cases) {
    expect(manifest).not.toBe(written);
    await bucket.put(manifestAt, Buffer.from(manifest));
    expect(await heddle("verify", id)).toMatchObject({ code: 1, stdout: expect.stringMatching(wrong) });
  }
  await bucket.put(manifestAt, Buffer.from(written));

  const [, , , first, second] = await exports.keysOf(id).then((keys) => ["", ...keys]);
  await bucket.put(first!, await exports.s3.read("traces", second!));
  await bucket.put(first!.replace("runs-00001", "runs-00009"), Buffer.from("x"));
  const wrong = await heddle("verify", id);
  expect(wrong.code).toBe(1);
  expect(wrong.stdout).toMatch(/WRONG .*runs-00001.parquet differs from what was written/);
  expect(wrong.stdout).toMatch(/WRONG .*runs-00009.parquet is not in the manifest/);
  expect(wrong.stdout).toMatch(/WRONG {2}15 rows, the query had 25/);

  const rejected = await heddle("cancel", id);
  expect(rejected).toMatchObject({ code: 1, stderr: expect.stringContaining("COMPLETED") });
  expect(await heddle("create", "--project", project)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--destination"),
  });
});

test("accepts projects and destinations by name, and names the command's options in errors", async () => {
  await exports.newProject("by name");
  const window = ["--from", marchDay(1), "--to", marchDay(2)];
  const listed = await heddle("destinations");
  expect(listed.stdout).toMatch(new RegExp(`^${exports.destination} +a bucket +traces/pre/fix +http`, "m"));
  const named = await heddle("create", "--destination", "a bucket", "--project", "by name", ...window, "--watch");
  expect(named).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\S+ COMPLETED\n$/) });

  const wrong: [string[], string][] = [
    [["a bucket", "by name", "--from", "monday", "--to", marchDay(2)], "--from: must be an ISO 8601 time"],
    [["a bucket", "by name", "--from", marchDay(2), "--to", marchDay(1)], "--to: must be later than --from"],
    [["a bucket", "no such", ...window], 'There is no project "no such".'],
    [["no such", "by name", ...window], 'There is no destination "no such". To list them: heddle export destinations'],
    [["a bucket", "by name", "--from", marchDay(1)], "heddle export create needs --to, or --every-hours"],
  ];
  for (const [[destination, project, ...rest], expected] of wrong) {
    const { stderr } = await heddle("create", "--destination", destination!, "--project", project!, ...rest);
    expect(stderr).toContain(`heddle: ${expected}`);
  }
});

test("shows the progress of an export as a bar", () => {
  const progress = { rows_total: 10, rows_written: 5, bytes_written: 1_500_000, percent: 50, estimated_end: null };
  const stored = {
    id: "x",
    status: "RUNNING",
    error: null,
    start_time: "",
    end_time: null,
    interval_hours: null,
    progress,
  };
  expect(progressLine(stored)).toBe(`[${"#".repeat(15)}${" ".repeat(15)}] 50 % RUNNING, 5 of 10 rows, 1.5 MB`);
});
