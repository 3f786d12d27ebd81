import { expect, test } from "vitest";

import { WORKSPACE } from "../../../test/principal.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { deferred } from "../../base/deferred.ts";
import { uuid7 } from "../../base/ids.ts";

const { call, clickhouse } = await testTracePlatform();
const OTHER = "00000000-0000-7000-8000-000000000002";
const share = clickhouse.share!;

async function timed(workspace: string): Promise<number> {
  const startedAt = performance.now();
  const run = { id: uuid7(), name: "n", run_type: "chain", inputs: {} };
  expect((await call("POST", "/runs", run, { "x-test-workspace": workspace })).status).toBe(202);
  return performance.now() - startedAt;
}

test("charges ingest to its workspace", async () => {
  await call("POST", "/sessions", { name: "default" });
  for (let n = 0; n < 3; n++) await timed(WORKSPACE);
  share.charge(WORKSPACE, 990);
  await share.run(OTHER, () => Promise.resolve());
  expect(share.isAboveShare(WORKSPACE)).toBe(true);
});

test("ingest of a workspace above its share waits for another's query", async () => {
  share.charge(WORKSPACE, 60_000);
  await timed(OTHER);
  const end = deferred<void>();
  const query = share.run(OTHER, () => end.promise);
  try {
    expect(await timed(WORKSPACE)).toBeGreaterThanOrEqual(249);
  } finally {
    end.resolve();
    await query;
  }
});
