import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";

import { queueRows } from "../../../test/queue-rows.ts";
import { createLog } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
import { CLAIM_MS, RunClaimer } from "./claim-runs.ts";
import type { RunQueueOptions } from "./queue-options.ts";

const { sql, me, newThread, create } = await queueRows();
const log = createLog("silent");

/** The claims of a server among 50, with the number of times that it has looked. */
function claims() {
  const seen = { looked: 0, runs: [] as string[] };
  const active = new Map<string, unknown>();
  const hosts = () => ({ hasCapacity: true });
  const options = { sql, leaseSql: sql, settings: { jobs: 100 }, serverId: me, hosts, servers: () => 50 };
  const poller = new Poller({
    async pass() {
      seen.looked += 1;
      for await (const { rows } of claimer.claims()) seen.runs.push(...rows.map((row) => row.run_id));
      return claimer.nextDue();
    },
    everyMs: CLAIM_MS,
    log,
    failing: "could not claim runs",
  });
  const shared = { ...options, lowestLoadElsewhere: () => 0.5 } as unknown as RunQueueOptions;
  const claimer = new RunClaimer(shared, active, poller);
  return { seen, claimer, poller };
}

test("announcements to many servers do not make each of them look every time", async () => {
  const { seen, claimer, poller } = claims();
  const until = performance.now() + 1000;
  while (performance.now() < until) {
    claimer.onAnnounced();
    await sleep(2);
  }
  await poller.stop();
  expect(seen.looked).toBeGreaterThan(1);
  expect(seen.looked).toBeLessThan(60);
});

test("a run that is announced after a pause is claimed at once", async () => {
  const { seen, claimer, poller } = claims();
  const { runId } = await create(await newThread());
  claimer.onAnnounced();
  await expect.poll(() => seen.runs).toEqual([runId]);
  await poller.stop();
});
