import { expect, test } from "vitest";

import { microseconds, type SampleRun, sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { RunScope } from "../runs/run-scope.ts";
import { readStatistics } from "./read-statistics.ts";

const { call, platform } = await testTracePlatform();
const TENANT = "00000000-0000-7000-8000-000000000001";
const [OLD, NEW] = ["a".repeat(64), "b".repeat(64)];
const START = Date.UTC(2026, 10, 1);

const usage = (tokens: number) => ({
  usage_metadata: { input_tokens: tokens, output_tokens: 0, total_tokens: tokens, total_cost: tokens / 10 },
});

/** A trace as LangChain records it: the prompt's metadata is on the prompt's run alone. */
function trace(
  commits: string[],
  { repo = "greeting", owner = "-", minute = 0, seconds = 1, error, tokens = 10 }: Record<string, unknown> = {},
): SampleRun[] {
  const start_time = microseconds(START + (minute as number) * 60_000);
  const root = sampleRun("prompts", { start_time, ...(error !== undefined && { error }) } as Partial<SampleRun>, {
    seconds: seconds as number,
  });
  const prompts = commits.map((lc_hub_commit_hash) =>
    sampleRun(
      "prompts",
      {
        run_type: "prompt",
        start_time,
        extra: { metadata: { lc_hub_owner: owner, lc_hub_repo: repo, lc_hub_commit_hash } },
      },
      { parent: root },
    ),
  );
  const model = sampleRun(
    "prompts",
    { run_type: "llm", start_time, outputs: usage(tokens as number) },
    { parent: root },
  );
  return [root, ...prompts, model];
}

const first = trace([OLD], { seconds: 2 });
await sendRuns(call, [
  ...first,
  ...trace([OLD], { minute: 1, seconds: 4, error: "Error: no" }),
  ...trace([OLD, NEW], { minute: 2, owner: "acme", tokens: 7 }),
  ...trace([NEW], { owner: "elsewhere", minute: 3 }),
  ...trace([NEW], { repo: "greeting2", minute: 4 }),
  ...trace([NEW], { minute: -40 * 24 * 60 }),
]);
await call("POST", "/feedback", { run_id: first[0]!.id, key: "good", score: 1 });
await call("POST", "/feedback", { run_id: first.at(-1)!.id, trace_id: first[0]!.id, key: "good", score: 0 });

const read = (owners: string[], window = {}) =>
  readStatistics(
    platform.deps,
    RunScope.ofTenant(TENANT),
    { owners, repo: "greeting" },
    { end_time: "2026-11-02 00:00:00.000000", ...window },
  );

test("counts traces by commit, with outcome, latency, tokens, cost and feedback of the whole trace", async () => {
  expect(await read(["-", "acme"])).toEqual([
    {
      commit_hash: OLD,
      run_count: 3,
      error_count: 1,
      latency_p50_ms: 2000,
      latency_p99_ms: expect.closeTo(3960, 0),
      total_tokens: 27,
      total_cost: 2.7,
      first_run_at: "2026-11-01T00:00:00.000000Z",
      last_run_at: "2026-11-01T00:02:00.000000Z",
      feedback: { good: { n: 2, avg: 0.5 } },
    },
    expect.objectContaining({ commit_hash: NEW, run_count: 1, total_tokens: 7, feedback: {} }),
  ]);
});

test("leaves out other owners, other prompts and traces before the window", async () => {
  const counts = async (owners: string[], window = {}) =>
    (await read(owners, window)).map(({ commit_hash, run_count }) => [commit_hash[0], run_count]);
  expect(await counts(["elsewhere"])).toEqual([["b", 1]]);
  expect(await counts(["-"])).toEqual([["a", 2]]);
  expect(await counts(["-"], { start_time: "2026-09-01 00:00:00.000000" })).toEqual([
    ["a", 2],
    ["b", 1],
  ]);
  expect(await counts(["-"], { start_time: "2026-11-01 00:01:00.000000" })).toEqual([["a", 1]]);
});

test("does not count runs of another workspace", async () => {
  const other = RunScope.ofTenant("00000000-0000-7000-8000-0000000000ff");
  expect(await readStatistics(platform.deps, other, { owners: ["-"], repo: "greeting" }, {})).toEqual([]);
});

test("the run filter selects the runs and the traces of a commit", async () => {
  const filter = `and(eq(metadata_key, "lc_hub_commit_hash"), eq(metadata_value, "${OLD}"))`;
  const session = [await platform.deps.projects.ensureProject(TENANT, "prompts")];
  const { json: runs } = await call("POST", "/runs/query", { session, filter });
  expect(runs.runs).toHaveLength(3);
  const { json: traces } = await call("POST", "/runs/query", { session, is_root: true, tree_filter: filter });
  expect(traces.runs).toHaveLength(3);
});

test("the route returns the statistics of the caller's prompt, and 404 for an unknown one", async () => {
  await call("POST", "/repos", { repo_handle: "greeting", is_public: false });
  const window = "start_time=2026-11-01T00:00:00Z&end_time=2026-11-02T00:00:00Z";
  for (const prefix of ["", "/api/v1"]) {
    const { status, json } = await call("GET", `${prefix}/repos/-/greeting/statistics?${window}`);
    expect([status, json.commits.map(({ run_count }: { run_count: number }) => run_count)]).toEqual([200, [2]]);
  }
  expect((await call("GET", "/repos/-/absent/statistics")).status).toBe(404);
  const wrong = await call("GET", "/repos/-/greeting/statistics?start_time=soon");
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining("start_time")]);
  const reversed = await call("GET", "/repos/-/greeting/statistics?start_time=2026-11-02&end_time=2026-11-01");
  expect([reversed.status, reversed.text]).toEqual([422, expect.stringContaining("start_time")]);
});
