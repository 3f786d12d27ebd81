import { setTimeout as sleep } from "node:timers/promises";

import { expect, test, vi } from "vitest";

import { sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { WORKSPACE } from "../../../test/principal.ts";
import { actOnBatch } from "./act-on-batch.ts";
import { claimMatches, type MatchBatch } from "./match-sql.ts";

// decides, and acts only where the test does
const { call, sql, platform } = await testTracePlatform({ HEDDLE_RULE_CONCURRENCY: "0" });
const { deps } = platform;
const { signal } = new AbortController();
const LEASE_SECONDS = 0.3;

let made = 0;

async function post(path: string, body: unknown): Promise<Record<string, string>> {
  const { status, json } = await call("POST", path, body);
  expect({ path, status, json }).toMatchObject({ status: 200 });
  return json as Record<string, string>;
}

/** A rule with every action that needs no model, and runs that match it. */
async function matched(count: number) {
  const name = `acted ${++made}`;
  const { id: session_id } = await post("/sessions", { name });
  const { id: queue } = await post("/annotation-queues", { name });
  const { id: dataset } = await post("/datasets", { name });
  const { id: rule } = await post("/runs/rules", {
    display_name: name,
    sampling_rate: 1,
    session_id,
    add_to_annotation_queue_id: queue,
    add_to_dataset_id: dataset,
    add_tags: ["acted"],
    add_feedback: [{ key: "seen", score: 1 }],
    webhooks: [{ url: "http://127.0.0.1:9/" }],
  });
  const runs = Array.from({ length: count }, () =>
    sampleRun(name, {
      start_time: `${new Date(Date.now() - 60_000 + ++made).toISOString().slice(0, 23)}000Z`,
      inputs: { question: made },
    }),
  );
  await sendRuns(call, runs);
  await vi.waitFor(
    async () => expect(await sql`select 1 from rule_matches where rule_id = ${rule!}`).toHaveLength(count),
    { timeout: 60_000 },
  );
  return { queue: queue!, dataset: dataset!, rule: rule!, runs: runs.map((run) => run.id).toSorted() };
}

const claim = async (rule: string, leaseSeconds: number): Promise<MatchBatch> =>
  (await claimMatches(sql, { tenant_id: WORKSPACE, rule_id: rule }, { limit: 100, leaseSeconds }))!;

async function checkActed({ queue, dataset, rule, runs }: Awaited<ReturnType<typeof matched>>) {
  const ids = async (rows: PromiseLike<readonly Record<string, unknown>[]>) =>
    (await rows).map((row) => String(row["id"])).toSorted();
  expect(await ids(sql`select run_id as id from annotation_queue_runs where queue_id = ${queue}`)).toEqual(runs);
  expect(await ids(sql`select source_run_id as id from dataset_examples where dataset_id = ${dataset}`)).toEqual(runs);
  expect(await ids(sql`select run_id as id from feedback where run_id = any(${runs}::uuid[])`)).toEqual(runs);
  expect(
    await ids(sql`select m.run_id as id from rule_deliveries d join rule_matches m using (match_id)
      where d.rule_id = ${rule}`),
  ).toEqual(runs);
  expect(await sql`select 1 from rule_matches where rule_id = ${rule} and status = 'done'`).toHaveLength(runs.length);
}

test.each([
  "rule-claimed",
  "rule-after-add_to_annotation_queue",
  "rule-after-add_to_dataset",
  "rule-after-tags",
  "rule-after-feedback",
  "rule-before-end",
  "rule-after-end",
])("what stops at %s is completed by the next process, and nothing is done twice", async (point) => {
  const target = await matched(3);
  const stopAt = (name: string) => {
    if (name === point) throw new Error("killed");
  };
  // nothing after the point happens, as after a kill: the matches stay claimed until the lease expires
  await expect(actOnBatch(deps, stopAt, await claim(target.rule, LEASE_SECONDS), signal)).rejects.toThrow("killed");
  await sleep(LEASE_SECONDS * 1000 + 100);
  const next = () =>
    claimMatches(sql, { tenant_id: WORKSPACE, rule_id: target.rule }, { limit: 100, leaseSeconds: 60 });
  let batch = await next();
  // the stopped process may have renewed its lease
  const renewed = Date.now() + 20_000;
  while (!batch && point !== "rule-after-end" && Date.now() < renewed) {
    await sleep(100);
    batch = await next();
  }
  expect(batch === undefined).toBe(point === "rule-after-end");
  if (batch) await actOnBatch(deps, () => {}, batch, signal);
  await checkActed(target);
});

test("a process that lost its lease does nothing that the next one has done, also after a person undid it", async () => {
  const target = await matched(3);
  const lost = await claim(target.rule, LEASE_SECONDS);
  await sleep(LEASE_SECONDS * 1000 + 100);
  await actOnBatch(deps, () => {}, await claim(target.rule, 60), signal);
  await checkActed(target);
  const [removed] = target.runs;
  await sql`delete from annotation_queue_runs where run_id = ${removed!}`;
  await actOnBatch(deps, () => {}, lost, signal);
  expect(await sql`select 1 from annotation_queue_runs where run_id = ${removed!}`).toHaveLength(0);
  expect(await sql`select 1 from rule_deliveries where rule_id = ${target.rule}`).toHaveLength(3);
});
