import { expect, test } from "vitest";

import { sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const { call, platform } = await testTracePlatform();
const TENANT = "00000000-0000-7000-8000-000000000001";
const MIB = 1024 * 1024;

test("pages of large runs are bounded in bytes, and complete over their cursors", async () => {
  const text = "x".repeat(5 * MIB);
  const sent: string[] = [];
  for (let i = 0; i < 9; i++) {
    const run = sampleRun("large", { inputs: { text }, start_time: `2026-11-23T10:00:0${i}.000000Z` });
    await sendRuns(call, [run]);
    sent.unshift(run.id);
  }
  const session = await platform.deps.projects.ensureProject(TENANT, "large");
  const v1 = async (cursor: string | null) => {
    const { json, text: body } = await call("POST", "/runs/query", { session: [session], cursor });
    return { items: json.runs, next: json.cursors.next as string | null, size: body.length };
  };
  const v2 = (path: string, selected: object) => async (cursor: string | null) => {
    const window = { min_start_time: "2026-11-23T00:00:00Z", max_start_time: "2026-11-24T00:00:00Z" };
    const body = { ...selected, ...window, selects: ["ID", "INPUTS"], ...(cursor && { cursor }) };
    const { json, text: answer } = await call("POST", path, body);
    const items = json.items.map((item: { root_run?: object }) => item.root_run ?? item);
    return { items, next: (json.next_cursor ?? null) as string | null, size: answer.length };
  };
  for (const read of [
    v1,
    v2("/v2/runs/query", { project_ids: [session] }),
    v2("/v2/traces/query", { project_id: session }),
  ]) {
    const found: string[] = [];
    let pages = 0;
    for (let cursor: string | null = null; pages === 0 || cursor !== null; pages++) {
      const page = await read(cursor);
      expect(page.size).toBeLessThan(25 * MIB);
      for (const run of page.items) expect(run.inputs.text).toHaveLength(5 * MIB);
      found.push(...page.items.map((run: { id: string }) => run.id));
      cursor = page.next;
    }
    expect(found).toEqual(sent);
    expect(pages).toBe(3);
  }
});

test("a trace of large runs is returned whole", async () => {
  const root = sampleRun("large trace");
  const children = Array.from({ length: 7 }, () =>
    sampleRun("large trace", { inputs: { text: "y".repeat(5 * MIB) } }, { parent: root }),
  );
  await sendRuns(call, [root]);
  for (const child of children) await sendRuns(call, [child]);
  const { json } = await call("POST", "/runs/query", { trace: root.id, order: "asc" });
  expect(json.runs.map((run: { id: string }) => run.id)).toEqual([root.id, ...children.map((child) => child.id)]);
});

test("a run that alone exceeds a page is returned", async () => {
  const run = sampleRun("huge", { inputs: { text: "z".repeat(26 * MIB) } });
  const other = sampleRun("huge");
  await sendRuns(call, [run]);
  await sendRuns(call, [other]);
  const session = await platform.deps.projects.ensureProject(TENANT, "huge");
  const first = await call("POST", "/runs/query", { session: [session], order: "asc" });
  expect(first.json.runs.map((found: { id: string }) => found.id)).toEqual([run.id]);
  const rest = await call("POST", "/runs/query", { session: [session], order: "asc", cursor: first.json.cursors.next });
  expect(rest.json.runs.map((found: { id: string }) => found.id)).toEqual([other.id]);
});

test("a comparison of large runs is bounded in bytes, says what to request, and is complete over pages", async () => {
  const { id } = (await call("POST", "/datasets", { name: "large comparison" })).json;
  const size = 14;
  const examples = Array.from({ length: size }, (_, n) => ({ dataset_id: id, inputs: { n } }));
  const created: { id: string }[] = (await call("POST", "/examples/bulk", examples)).json;
  const { json: project } = await call("POST", "/sessions", { name: "large experiment", reference_dataset_id: id });
  for (const example of created) {
    const outputs = { text: "z".repeat(5 * MIB) };
    await sendRuns(call, [sampleRun("large experiment", { outputs, reference_example_id: example.id })]);
  }
  const read = (limit: number, offset = 0) =>
    call("POST", `/datasets/${id}/runs`, { session_ids: [project.id], limit, offset });
  const { status, text } = await read(size);
  expect(`${status} ${text}`).toMatch(/^422 .*more than 64 MB in the experiments\. Request fewer examples at a time/);
  const found: string[] = [];
  for (let offset = 0; offset < size; offset += 5) {
    for (const example of (await read(5, offset)).json) {
      expect(example.runs).toHaveLength(1);
      expect(example.runs[0].outputs.text).toHaveLength(5 * MIB);
      found.push(example.id);
    }
  }
  expect(found.toSorted()).toEqual(created.map((example) => example.id).toSorted());
});
