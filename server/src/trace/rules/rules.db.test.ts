/** The API of automation rules. */
import { expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { uuid7 } from "../../base/ids.ts";
import { readRuleSecrets } from "./rule-secrets.ts";

const db = await testDatabase();
const { call, sql, platform } = await testTracePlatform({ HEDDLE_RULE_CONCURRENCY: "0" }, { db });
const { deps } = platform;

const rules = (query = "") => call("GET", `/api/v1/runs/rules${query}`);
const create = async (body: object) => {
  const created = await call("POST", "/runs/rules", { display_name: "a rule", sampling_rate: 1, ...body });
  expect([created.status, created.text]).toEqual([200, expect.anything()]);
  return created.json as Record<string, unknown> & { id: string };
};
const another = (method: string, path: string, body?: object) =>
  call(method, path, body, { "x-test-workspace": uuid7() });

async function things() {
  const name = uuid7();
  const { json: project } = await call("POST", "/sessions", { name: `p-${name}` });
  const { json: dataset } = await call("POST", "/datasets", { name: `d-${name}` });
  const { json: queue } = await call("POST", "/annotation-queues", { name: `q-${name}` });
  return { project, dataset, queue } as Record<"project" | "dataset" | "queue", { id: string; name: string }>;
}

test("a rule is created, listed, changed and deleted; secrets are never returned", async () => {
  const { project, dataset, queue } = await things();
  const made = await create({
    display_name: "bad answers",
    session_id: project.id,
    sampling_rate: 0.5,
    filter: "eq(is_root, true)",
    tree_filter: 'eq(name, "tool")',
    add_to_dataset_id: dataset.id,
    add_to_annotation_queue_id: queue.id,
    webhooks: [{ url: "https://example.com/hook?x=1", headers: { Authorization: "sesame" } }],
    alerts: [{ routing_key: "routing-sesame" }],
    spend_limit: { limit_usd: 2.5, window: "weekly" },
    add_tags: ["bad"],
    add_feedback: [{ key: "seen", score: 1 }],
    group_by: null,
    idle_seconds: 60,
  });
  expect(made).toMatchObject({
    is_enabled: true,
    session_id: project.id,
    session_name: project.name,
    dataset_id: null,
    sampling_rate: 0.5,
    filter: "eq(is_root, true)",
    add_to_dataset_id: dataset.id,
    add_to_dataset_name: dataset.name,
    add_to_annotation_queue_id: queue.id,
    add_to_annotation_queue_name: queue.name,
    webhooks: [{ url: "https://example.com/hook?x=1", headers: { Authorization: "••••••••" } }],
    alerts: [{ type: "pagerduty", routing_key: "••••••••", severity: "warning", summary: null }],
    spend_limit: { limit_usd: "2.5", window: "weekly" },
    add_tags: ["bad"],
    add_feedback: [{ key: "seen", score: 1 }],
    evaluators: null,
    evaluator_id: null,
    backfill_id: null,
    idle_seconds: 60,
  });
  const stored = await sql`select row_to_json(r)::text as text from rules r`;
  expect(JSON.stringify(stored)).not.toContain("sesame");
  expect((await rules()).json).toEqual([made]);
  expect((await rules(`?session_id=${project.id}&type=session&name_contains=BAD&id=${made.id}`)).json).toEqual([made]);
  expect((await rules("?type=dataset")).json).toEqual([]);
  expect((await rules(`?evaluator_id=${uuid7()}`)).json).toEqual([]);

  const masked = [{ url: "https://example.com/hook?x=1", headers: { Authorization: "••••••••", "X-New": "b" } }];
  const changed = await call("PATCH", `/runs/rules/${made.id}`, { webhooks: masked, filter: null, is_enabled: false });
  expect(changed.json).toMatchObject({
    filter: null,
    is_enabled: false,
    display_name: "bad answers",
    idle_seconds: 60,
  });
  expect(await readRuleSecrets(deps.secrets, made.id)).toEqual({
    webhooks: [{ url: "https://example.com/hook?x=1", headers: { Authorization: "sesame", "X-New": "b" } }],
    alerts: ["routing-sesame"],
  });
  const moved = [{ url: "https://example.org/", headers: { Authorization: "••••••••" } }];
  expect((await call("PATCH", `/runs/rules/${made.id}`, { webhooks: moved })).status).toBe(422);

  expect((await another("GET", "/runs/rules")).json).toEqual([]);
  expect((await another("PATCH", `/runs/rules/${made.id}`, { display_name: "x" })).status).toBe(404);
  expect((await another("DELETE", `/runs/rules/${made.id}`)).status).toBe(404);
  expect((await call("DELETE", `/runs/rules/${made.id}`)).status).toBe(200);
  expect((await call("DELETE", `/runs/rules/${made.id}`)).status).toBe(404);
  expect(await readRuleSecrets(deps.secrets, made.id)).toEqual({ webhooks: [], alerts: [] });
});

test("rejects what is unknown, invalid or without effect, by name", async () => {
  const { project, dataset } = await things();
  const post = async (body: object) => {
    const { status, text } = await call("POST", "/runs/rules", { display_name: "a", sampling_rate: 1, ...body });
    return [status, text];
  };
  const names = (name: string) => [422, expect.stringContaining(name)];
  expect(await post({ filter: "eq(nothing, 1)" })).toEqual(names("filter"));
  expect(await post({ tree_filter: "and(" })).toEqual(names("tree_filter"));
  expect(await post({ sampling_rate: 1.5 })).toEqual(names("sampling_rate"));
  expect(await post({ create_alignment_queue: true })).toEqual(names("create_alignment_queue"));
  expect(await post({ use_corrections_dataset: true })).toEqual(names("use_corrections_dataset"));
  expect(await post({ num_few_shot_examples: 3 })).toEqual(names("num_few_shot_examples"));
  expect(await post({ session_id: project.id, dataset_id: dataset.id })).toEqual(names("dataset_id"));
  expect(await post({ webhooks: [{ url: "ftp://example.com" }] })).toEqual(names("webhooks"));
  expect(await post({ webhooks: [{ url: "https://example.com", headers: { "X-A": "1", "x-a": "2" } }] })).toEqual(
    names("once"),
  );
  expect(await post({ webhooks: [{ url: "http://169.254.169.254/" }] })).toEqual(names("webhook"));
  expect(await post({ backfill_from: "2999-01-01T00:00:00Z" })).toEqual(names("backfill_from"));
  expect(await post({ filter: `or(${Array(101).fill('eq(name, "a")').join(", ")})` })).toEqual(names("conditions"));
  for (const field of ["session_id", "dataset_id", "add_to_dataset_id", "add_to_annotation_queue_id", "evaluator_id"]) {
    expect((await post({ [field]: uuid7() }))[0]).toBe(404);
  }
  const foreign = await another("POST", "/runs/rules", { display_name: "a", sampling_rate: 1, session_id: project.id });
  expect(foreign.status).toBe(404);
});

test("embedded code becomes an evaluator, once", async () => {
  const code = "def perform_eval(run, example):\n  return {'ok': 1}";
  const { id, ...made } = await create({ code_evaluators: [{ code }] });
  expect(made).toMatchObject({ code_evaluators: [{ code, language: "python" }] });
  const ids = async () =>
    (await sql`select actions -> 'evaluator_ids' as ids from rules where rule_id = ${id}`)[0]!["ids"];
  const first = await ids();
  expect(first).toHaveLength(1);
  await call("PATCH", `/runs/rules/${id}`, { code_evaluators: [{ code, language: "python" }], display_name: "b" });
  expect(await ids()).toEqual(first);
  expect((await rules(`?evaluator_id=${(first as string[])[0]}`)).json).toHaveLength(1);
  const path = `/v1/platform/evaluators/${(first as string[])[0]}`;
  expect((await call("GET", path)).json.run_rules).toMatchObject([{ id }]);
  expect((await call("DELETE", path)).status).toBe(409);
  await call("PATCH", `/runs/rules/${id}`, { code_evaluators: null });
  expect(await ids()).toEqual([]);
  expect((await call("DELETE", path)).status).toBe(204);
});

test("orders a back-fill with the rule, and reports it", async () => {
  const { id, ...made } = await create({ backfill_from: "2026-01-01T00:00:00Z" });
  expect(made).toMatchObject({ backfill_from: "2026-01-01T00:00:00.000000+00:00", backfill_progress: null });
  await sql`update rule_backfills set status = 'running', done = 5, total = 10 where rule_id = ${id}`;
  const [item] = (await rules(`?id=${id}&include_backfill_progress=true`)).json;
  expect(item).toMatchObject({ backfill_status: "running", backfill_progress: 0.5 });
  await call("DELETE", `/runs/rules/${id}`);
});

test("a rule of something that is deleted is disabled and says why", async () => {
  const { project, dataset, queue } = await things();
  const [ofProject, ofDataset, ofQueue] = [
    await create({ session_id: project.id }),
    await create({ add_to_dataset_id: dataset.id }),
    await create({ add_to_annotation_queue_id: queue.id }),
  ];
  await call("DELETE", `/sessions/${project.id}`);
  await call("DELETE", `/datasets/${dataset.id}`);
  await call("DELETE", `/annotation-queues/${queue.id}`);
  const found = (await rules(`?id=${ofProject.id}&id=${ofDataset.id}&id=${ofQueue.id}`)).json as object[];
  expect(found.map((rule) => (rule as { disabled_reason: string }).disabled_reason).sort()).toEqual([
    "Its annotation queue was deleted.",
    "Its dataset was deleted.",
    "Its project was deleted.",
  ]);
  expect(found).toEqual(found.map(() => expect.objectContaining({ is_enabled: false })));
  expect((await call("PATCH", `/runs/rules/${ofQueue.id}`, { is_enabled: true })).status).toBe(404);
  const again = { is_enabled: true, add_to_annotation_queue_id: null };
  expect((await call("PATCH", `/runs/rules/${ofQueue.id}`, again)).json).toMatchObject({ disabled_reason: null });
});

test("a replica with a cached answer evaluates each run that is sent after a rule's creation was answered", async () => {
  const replica = await testTracePlatform({}, { db });
  const run = () => {
    const id = uuid7();
    const [start_time, end_time] = ["2026-11-21T10:00:00Z", "2026-11-21T10:00:01Z"];
    const dotted_order = `20261121T100000000000Z${id}`;
    return {
      id,
      trace_id: id,
      dotted_order,
      session_name: "replica",
      name: "r",
      run_type: "chain",
      start_time,
      end_time,
    };
  };
  let stopped = false;
  const traffic = (async () => {
    while (!stopped) await replica.call("POST", "/runs/batch", { post: [run()] });
  })();
  for (let i = 0; i < 3; i++) {
    const { id } = await create({ display_name: `r-${i}` });
    const sent = run();
    await replica.call("POST", "/runs/batch", { post: [sent] });
    const found = () => sql`select 1 from rule_matches where rule_id = ${id} and run_id = ${sent.id}`;
    await expect.poll(async () => (await found()).length, { timeout: 10_000 }).toBe(1);
  }
  stopped = true;
  await traffic;
});
