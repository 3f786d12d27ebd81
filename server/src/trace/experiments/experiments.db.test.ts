import { expect, test } from "vitest";

import { WORKSPACE } from "../../../test/principal.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { uuid7 } from "../../base/ids.ts";

const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };

const { sql, call } = await testTracePlatform();

let createdCount = 0;

async function dataset(size: number) {
  const { id } = (await call("POST", "/datasets", { name: `experiments ${++createdCount}` })).json;
  const examples = Array.from({ length: size }, (_, n) => ({ dataset_id: id, inputs: { n } }));
  const { json } = await call("POST", "/examples/bulk", examples);
  return { id: id as string, examples: json.map((item: { id: string }) => item.id) as string[] };
}

async function experiment(datasetId: string): Promise<{ id: string; name: string }> {
  const [id, name] = [uuid7(), `experiment ${++createdCount}`];
  await sql`insert into projects (tenant_id, project_id, name, reference_dataset_id)
    values (${WORKSPACE}, ${id}, ${name}, ${datasetId})`;
  return { id, name };
}

async function run(project: { name: string }, example: string | null, more: Record<string, unknown> = {}) {
  const id = uuid7();
  const time = new Date().toISOString();
  const body = {
    id,
    name: "target",
    run_type: "chain",
    inputs: { in: 1 },
    outputs: { out: 2 },
    session_name: project.name,
  };
  const response = await call("POST", "/runs", {
    ...body,
    start_time: time,
    end_time: time,
    reference_example_id: example,
    ...more,
  });
  expect(response.status).toBe(202);
  return id;
}

test("examples are listed with their runs of experiments and the runs' feedback", async () => {
  const { id, examples } = await dataset(3);
  const [a, b] = [await experiment(id), await experiment(id)];
  const good = await run(a, examples[0]!);
  const bad = await run(a, examples[1]!, { error: "boom" });
  const other = await run(b, examples[0]!);
  await run(b, null);
  await call("POST", "/feedback", { run_id: good, key: "correct", score: 1 });

  const body = { session_ids: [a.id, b.id], limit: 10 };
  const response = await call("POST", `/datasets/${id}/runs`, body);
  expect(response.status).toBe(200);
  const byExample = new Map(response.json.map((item: { id: string; runs: { id: string }[] }) => [item.id, item]));
  expect(byExample.size).toBe(3);
  const first = byExample.get(examples[0]!) as { inputs: unknown; runs: Record<string, unknown>[] };
  expect(first.inputs).toEqual({ n: 0 });
  expect(first.runs.map((run) => run.id).sort()).toEqual([good, other].sort());
  const judged = first.runs.find((run) => run.id === good)!;
  expect(judged).toMatchObject({
    session_id: a.id,
    inputs: { in: 1 },
    outputs: { out: 2 },
    reference_example_id: examples[0],
  });
  expect(judged.feedback_stats).toMatchObject({ correct: { n: 1, avg: 1 } });
  expect(judged.feedbacks).toMatchObject([{ key: "correct", score: 1, run_id: good }]);
  expect(byExample.get(examples[2]!)).toMatchObject({ runs: [] });

  const filtered = async (filters: Record<string, string[]>) =>
    (await call("POST", `/datasets/${id}/runs`, { ...body, filters })).json.map((item: { id: string }) => item.id);
  expect(await filtered({ [a.id]: ["neq(error, null)"] })).toEqual([examples[1]]);
  expect(await filtered({ [a.id]: ['eq(status, "success")'], [b.id]: ["eq(is_root, true)"] })).toEqual([examples[0]]);
  const singlePage = await call("POST", `/datasets/${id}/runs`, { ...body, example_ids: [examples[1]], preview: true });
  expect(singlePage.json).toHaveLength(1);
  expect(singlePage.json[0].runs).toMatchObject([{ id: bad, error: "boom", inputs_preview: expect.any(String) }]);
  expect(singlePage.json[0].runs[0]).not.toHaveProperty("inputs");

  const pages = await Promise.all(
    [0, 1, 2, 3].map(
      async (offset) => (await call("POST", `/datasets/${id}/runs`, { ...body, limit: 1, offset })).json,
    ),
  );
  expect(pages.map((page) => page.length)).toEqual([1, 1, 1, 0]);

  expect((await call("POST", `/datasets/${id}/runs`, { ...body, filters: { [a.id]: ["nonsense"] } })).status).toBe(400);
  expect((await call("POST", `/datasets/${id}/runs`, { session_ids: [uuid7()] })).status).toBe(404);
  expect((await call("POST", `/datasets/${id}/runs`, body, OTHER)).status).toBe(404);
  expect((await call("POST", `/datasets/${id}/runs`, { ...body, sort_params: { sort_by: "x" } })).status).toBe(422);
  const v2 = (more: object) =>
    call("POST", `/api/v2/datasets/${id}/experiment-runs`, { experiment_ids: [a.id], ...more });
  const selected = await v2({ selects: ["ID", "STATUS", "ERROR"], page_size: 2, example_ids: examples });
  expect(selected.json.items).toHaveLength(2);
  const rest = await v2({ selects: ["ID"], page_size: 2, cursor: selected.json.next_cursor });
  expect(rest.json.items).toHaveLength(1);
  expect(rest.json).not.toHaveProperty("next_cursor");
  const all = [...selected.json.items, ...rest.json.items].flatMap((item: { runs: { id: string }[] }) => item.runs);
  expect(all.map((each) => each.id).sort()).toEqual([good, bad].sort());
  expect(selected.json.items.flatMap((item: { runs: object[] }) => item.runs)).toContainEqual({
    id: bad,
    status: "ERROR",
    error: "boom",
  });
  expect((await v2({ cursor: "x" })).status).toBe(422);
  expect((await v2({ sort: { by: "" } })).json).toMatchObject({
    status: 422,
    detail: expect.stringContaining("sort"),
  });

  expect((await call("GET", `/datasets/${id}`)).json).toMatchObject({
    session_count: 2,
    last_session_start_time: expect.any(String),
  });
});

test("experiments of one dataset are compared, and preferences are counted", async () => {
  const { id } = await dataset(1);
  const [a, b] = [await experiment(id), await experiment(id)];
  const body = {
    experiment_ids: [a.id, b.id],
    reference_dataset_id: id,
    name: "a vs. b",
    extra: { metadata: { m: 1 } },
  };
  const created = await call("POST", "/datasets/comparative", { ...body, id: uuid7() });
  expect(created.json).toMatchObject({ name: "a vs. b", reference_dataset_id: id, tenant_id: WORKSPACE });
  const comparative_experiment_id = created.json.id;
  for (const score of [0, 1]) {
    await call("POST", "/feedback", { run_id: uuid7(), key: "preferred", score, comparative_experiment_id });
  }
  const listed = await call("GET", `/datasets/${id}/comparative?name_contains=VS`);
  expect(listed.json).toMatchObject([
    {
      id: comparative_experiment_id,
      experiments_info: [a, b],
      feedback_stats: { preferred: { n: 2, avg: 0.5 } },
    },
  ]);
  const found = await call("GET", `/feedback?comparative_experiment_id=${comparative_experiment_id}`);
  expect(found.json).toHaveLength(2);

  expect((await call("POST", "/datasets/comparative", { ...body, id: comparative_experiment_id })).status).toBe(409);
  const elsewhere = await experiment((await dataset(1)).id);
  expect((await call("POST", "/datasets/comparative", { experiment_ids: [a.id, elsewhere.id] })).status).toBe(422);
  expect((await call("POST", "/datasets/comparative", { experiment_ids: [uuid7()] })).status).toBe(404);
  expect((await call("POST", "/datasets/comparative", body, OTHER)).status).toBe(404);
  const foreignFeedback = { run_id: uuid7(), key: "k", comparative_experiment_id };
  expect((await call("POST", "/feedback", foreignFeedback, OTHER)).status).toBe(404);

  const path = `/datasets/comparative/${comparative_experiment_id}`;
  expect((await call("DELETE", path, undefined, OTHER)).status).toBe(404);
  expect((await call("DELETE", path)).status).toBe(200);
  expect((await call("DELETE", path)).status).toBe(404);
});
