import { expect, test, vi } from "vitest";

import { atEnd } from "../../../test/at-end.ts";
import { modelServer } from "../../../test/model-server.ts";
import { nameByTopic, sendTopicRuns, topicRuns } from "../../../test/topic-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { until } from "../../../test/until.ts";
import { uuid7 } from "../../base/ids.ts";
import { InsightWorker } from "./insight-worker.ts";
import type { Stage } from "./sql.ts";

// jobs wait for the thread that clusters, which a busy machine delays
vi.setConfig({ testTimeout: 180_000 });

const provider = await modelServer();
const { call, sql, platform } = await testTracePlatform({
  HEDDLE_OUTBOUND_ALLOW: `127.0.0.1:${provider.port}`,
  // only the workers of this file
  HEDDLE_INSIGHT_CONCURRENCY: "0",
});
provider.script = (asked) => nameByTopic(asked);

/** Called after each stage of the worker. */
let afterStage: (stage: Stage) => unknown = () => {};
const worker = new InsightWorker(platform.deps, {
  concurrency: 1,
  afterStage: async (stage) => void (await afterStage(stage)),
});
worker.start();
atEnd(() => worker.stop());

/** Takes the job's lease away, as when its process was frozen for longer than the lease. */
const steal = (id: string) => sql`
  update insight_jobs set attempt = attempt + 1, leased_until = null where job_id = ${id} and state = 'running'`;

async function begin(count: number) {
  const headers = { "x-test-workspace": uuid7() };
  const send = (method: string, path: string, body?: object) => call(method as "GET", path, body, headers);
  const { json: project } = await send("POST", "/sessions", { name: "shop" });
  await send("POST", "/workspaces/current/secrets", [{ key: "OPENAI_API_KEY", value: "sk-test-0123456789" }]);
  const settings = { base_url: `${provider.url}/v1` };
  await send("POST", "/models/connections", { name: "fake", provider: "openai", settings });
  await sendTopicRuns(call, topicRuns("shop", count), headers);
  const path = `/sessions/${project.id}/insights`;
  const body = { start_time: "2026-11-01T00:00:00Z", end_time: "2026-11-02T00:00:00Z", sample: count };
  const embedded = provider.embedded.length;
  const calls = provider.calls.length;
  const start = async () => {
    const { json } = await send("POST", path, body);
    worker.wake();
    return json.id as string;
  };
  const read = async (id: string) => (await send("GET", `${path}/${id}`)).json;
  const ended = async (id: string) => {
    await until(async () => !["queued", "running"].includes((await read(id)).status), "the job has ended", 120);
    return read(id);
  };
  /** Texts that were embedded, and names that were asked for. */
  const paid = () => {
    const since = provider.calls.slice(calls);
    const names = since.filter((each) => each.path.includes("/chat/completions")).length;
    return { texts: provider.embedded.length - embedded, names };
  };
  return { path, send, start, read, ended, paid };
}

test.each(["sample", "embed", "cluster", "name"] as const)(
  "continues after the stage %s in another process, and pays for nothing twice",
  async (wanted) => {
    const { start, ended, paid } = await begin(120);
    let stolen = 0;
    afterStage = async (stage) => {
      if (stage !== wanted || stolen > 0) return;
      stolen++;
      const [row] = await sql<{ job_id: string }[]>`select job_id from insight_jobs where state = 'running'`;
      await steal(row!.job_id);
    };
    const job = await ended(await start());
    expect([stolen, job.state, job.progress.clusters]).toEqual([1, "success", 5]);
    expect(paid()).toEqual({ texts: 120, names: 5 });
    const rows = await sql`select 1 from insight_runs where job_id = ${job.id as string}`;
    expect(rows).toHaveLength(120);
  },
);

test("continues in the middle of embedding; only calls in progress are repeated", async () => {
  const { start, ended, paid } = await begin(900);
  afterStage = () => {};
  const id = await start();
  await until(() => paid().texts >= 300);
  await steal(id);
  const job = await ended(id);
  expect([job.state, job.progress.embedded]).toEqual(["success", 900]);
  expect(paid().texts).toBeLessThanOrEqual(900 + 300);
});

test("cancels, and resumes where it was", async () => {
  const { path, send, start, ended, paid } = await begin(120);
  const cancelled = new Promise<void>((resolve) => {
    afterStage = async (stage) => {
      if (stage !== "embed") return;
      const [row] = await sql<{ job_id: string }[]>`select job_id from insight_jobs where state = 'running'`;
      expect((await send("POST", `${path}/${row!.job_id}/cancel`)).json).toMatchObject({ state: "cancelled" });
      resolve();
    };
  });
  const id = await start();
  await cancelled;
  afterStage = () => {};
  expect(await ended(id)).toMatchObject({
    state: "cancelled",
    status: "error",
    progress: { embedded: 120, clusters: 0 },
  });
  expect((await send("POST", `${path}/${id}/resume`, {})).status).toBe(200);
  worker.wake();
  expect(await ended(id)).toMatchObject({ state: "success" });
  expect(paid()).toEqual({ texts: 120, names: 5 });
});

test("a job that is deleted while it works writes nothing more", async () => {
  const { path, send, start } = await begin(40);
  const gone = new Promise<string>((resolve) => {
    afterStage = async (stage) => {
      if (stage !== "embed") return;
      const [row] = await sql<{ job_id: string }[]>`select job_id from insight_jobs where state = 'running'`;
      await send("DELETE", `${path}/${row!.job_id}`);
      resolve(row!.job_id);
    };
  });
  await start();
  const id = await gone;
  afterStage = () => {};
  await worker.stop();
  for (const table of ["insight_jobs", "insight_clusters", "insight_runs"]) {
    expect(await sql`select 1 from ${sql(table)} where job_id = ${id}`).toHaveLength(0);
  }
});
