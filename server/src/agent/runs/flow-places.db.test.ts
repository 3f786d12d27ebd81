/** Runs whose limits have no room when the turn of their value comes (functions/flow.sql: choose_from_lanes). */
import { expect, test } from "vitest";

import { queueRows } from "../../../test/queue-rows.ts";
import { queueSection } from "../project/queue-config.ts";
import { claimRuns, putQueueRules } from "./sql.ts";

const { sql, me, newThread, create, finish } = await queueRows();

async function start(metadata: { user: string; tool?: string }): Promise<string> {
  const { runId } = await create(await newThread(), { metadata: JSON.stringify(metadata), kwargs: "{}" });
  return runId;
}
const claim = async () => (await claimRuns(sql, me, 32)).map(({ run_id: id }) => id);

test("a run keeps its place while younger runs of its user, which need not wait for its key, take the turns", async () => {
  const concurrency = [{ key: "metadata.tool", limit: 1 }];
  await putQueueRules(sql, { echo: queueSection.parse({ concurrency, fair: "metadata.user" }) });
  let holder = await start({ user: "first", tool: "x" });
  expect(await claim()).toEqual([holder]);
  const run = await start({ user: "u", tool: "x" });
  const begun: string[] = [];
  for (let round = 0; round < 6 && !begun.includes(run); round++) {
    const own = await start({ user: "u" });
    expect(await claim()).toEqual([own]);
    // another new user each time, who waits for the same key
    await start({ user: `v${round}`, tool: "x" });
    expect(await claim()).toEqual([]);
    await finish(holder);
    [holder] = (await claim()) as [string];
    begun.push(holder);
  }
  expect(begun).toContain(run);
  expect(begun.length).toBeLessThanOrEqual(2);
});
