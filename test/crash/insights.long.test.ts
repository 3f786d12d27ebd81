import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, afterEach, expect, test } from "vitest";

import { modelServer } from "../../server/test/model-server.ts";
import { nameByTopic, TOPICS, topicRuns } from "../../server/test/topic-runs.ts";
import { until } from "../../server/test/until.ts";
import type { ExportProcess } from "./export-process.ts";
import { exportReplicas } from "./export-replicas.ts";

const RUNS = 2000;
/** Texts of the embedding calls that a process has in progress, which a kill may repeat. */
const IN_PROGRESS = 300;

// oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect to be there
type Json = any;

const provider = await modelServer();
provider.script = (asked) => nameByTopic(asked);
const replicas = await exportReplicas();
afterEach(() => replicas.killAll());
afterAll(() => replicas.stop());

const start = () => replicas.start({ HEDDLE_EXPORT_CONCURRENCY: "0", HEDDLE_LOG_LEVEL: "error" });
const ask = (by: ExportProcess, method: string, path: string, body?: unknown) =>
  by.request(method, path, body) as Promise<Json>;

/** Waits for a moment that passes quickly. */
async function moment(isNow: () => boolean): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!isNow()) {
    if (Date.now() > deadline) throw new Error("the moment did not come");
    await sleep(1);
  }
}

test("a job that is killed while it embeds and while it names continues, and counts nothing twice", async () => {
  let replica = await start();
  await ask(replica, "POST", "/workspaces/current/secrets", [{ key: "OPENAI_API_KEY", value: "sk-test-0123456789" }]);
  const settings = { base_url: `${provider.url}/v1` };
  await ask(replica, "POST", "/models/connections", { name: "fake", provider: "openai", settings });
  const { id: project } = await ask(replica, "POST", "/sessions", { name: "shop" });
  const runs = topicRuns("shop", RUNS).map(({ run }) => run);
  for (let at = 0; at < RUNS; at += 500) await ask(replica, "POST", "/runs/batch", { post: runs.slice(at, at + 500) });
  const period = { start_time: "2026-11-01T00:00:00Z", end_time: "2026-11-02T00:00:00Z" };
  const { id } = await ask(replica, "POST", `/sessions/${project}/insights`, { ...period, sample: RUNS });
  const names = () => provider.calls.filter(({ path }) => path.includes("/chat/completions")).length;
  let kills = 0;
  for (const isNow of [
    () => provider.embedded.length >= RUNS * 0.2,
    () => provider.embedded.length >= RUNS * 0.7,
    () => names() >= 2,
  ]) {
    await moment(isNow);
    await replica.kill();
    kills++;
    // its process is dead: no need to wait until the lease has expired
    await replicas.sql`update insight_jobs set leased_until = now() where job_id = ${id} and leased_until is not null`;
    replica = await start();
  }
  const read = () => ask(replica, "GET", `/sessions/${project}/insights/${id}`);
  await until(async () => !["queued", "running"].includes((await read()).status), "the job ends", 120);
  const topics = Object.keys(TOPICS).length;
  expect(await read()).toMatchObject({
    state: "success",
    sampled: RUNS,
    progress: { sampled: RUNS, embedded: RUNS, clusters: topics, named: topics },
  });
  const [counts] = await replicas.sql`
    select (select count(*)::int from insight_runs where job_id = ${id}) as runs,
      (select count(distinct run_id)::int from insight_runs where job_id = ${id}) as distinct_runs,
      (select sum(num_runs)::int from insight_clusters where job_id = ${id} and is_leaf) as clustered,
      (select attempt from insight_jobs where job_id = ${id}) as attempts`;
  expect(counts).toMatchObject({ runs: RUNS, distinct_runs: RUNS, clustered: RUNS });
  expect(counts!["attempts"]).toBeGreaterThan(kills);
  expect(provider.embedded.length).toBeLessThanOrEqual(RUNS + 2 * IN_PROGRESS);
  // three calls at once
  expect(names()).toBeLessThanOrEqual(topics + 3);
  console.log(`${provider.embedded.length - RUNS} of ${RUNS} texts embedded twice, ${names() - topics} names`);
}, 240_000);
