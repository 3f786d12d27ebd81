import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };
const { call, sql } = await testTracePlatform();

const base = (id: string) => `/api/v1/platform/annotation-queues/${id}/items`;
let made = 0;
const queue = async (): Promise<string> =>
  (await call("POST", "/annotation-queues", { name: `items ${++made}` })).json.id as string;

async function threaded(project: string, thread_id: string) {
  const inThread = { extra: { metadata: { thread_id } } };
  const turns = [sampleRun(project, inThread), sampleRun(project, inThread)];
  const child = sampleRun(project, {}, { parent: turns[1]! });
  await sendRuns(call, [...turns, child]);
  const { session_id } = (await call("GET", `/runs/${turns[0]!.id}`)).json;
  return { turns, project_id: session_id as string };
}

test("runs and threads are added, listed, counted, placed, changed and removed", async () => {
  const id = await queue();
  const { turns, project_id } = await threaded("item threads", "t1");
  const items = [
    { item_type: "RUN", run_id: turns[1]!.id, session_id: project_id },
    { item_type: "THREAD", thread_id: "t1", project_id },
    { run_id: turns[0]!.id },
  ];
  const added = await call("POST", base(id), { items });
  expect(added).toMatchObject({
    status: 201,
    json: {
      items: [
        { item_type: "RUN", run_id: turns[1]!.id, thread_id: null },
        { item_type: "THREAD", run_id: null, thread_id: "t1", project_id },
        { item_type: "RUN", run_id: turns[0]!.id },
      ],
    },
  });
  // the thread stays one item, and its latest run another
  expect((await call("POST", base(id), { items })).json).toEqual(added.json);
  const ids = (added.json.items as { id: string }[]).map((item) => item.id);
  const list = async (query: string) => (await call("GET", `${base(id)}?${query}`)).json;
  const idsOf = (page: { items: { id: string }[] }) => page.items.map((item) => item.id);
  const first = await list("status=needs_my_review&page_size=2");
  expect(idsOf(first)).toEqual(ids.slice(0, 2));
  const second = await list(`status=needs_my_review&page_size=2&cursor=${first.next_cursor}`);
  expect(second).toMatchObject({ items: [{ id: ids[2] }], next_cursor: null });
  const place = (await call("GET", `${base(id)}/${ids[1]}/placement`)).json;
  expect(place).toMatchObject({ item_type: "THREAD", section: "needs_my_review", position: 1 });
  expect(idsOf(await list(`status=needs_my_review&cursor=${place.cursor}`))).toEqual(ids.slice(1));
  expect(idsOf(await list(`status=needs_my_review&direction=backward&cursor=${first.next_cursor}`))).toEqual(
    ids.slice(0, 1),
  );
  expect(idsOf(await list("status=needs_my_review&item_type=THREAD"))).toEqual([ids[1]]);
  expect(await list("status=archived")).toEqual({ items: [], next_cursor: null });
  expect((await list("status=needs_my_review&min_start_time=2100-01-01T00:00:00Z")).items).toEqual([]);
  expect((await list("status=needs_my_review&min_start_time=0001-01-01T00:00:00Z")).items).toHaveLength(3);
  const count = async (query: string) => (await call("GET", `${base(id)}/count?${query}`)).json.count;
  expect(await count("status=all")).toBe(3);

  const status = `/v1/platform/annotation-queues/items/${ids[1]}/status`;
  expect((await call("POST", status, { status: "viewed" })).json).toMatchObject({
    status: "viewed",
    is_archived: false,
  });
  expect((await call("POST", status, { status: "completed" })).json).toMatchObject({
    queue_item_id: ids[1],
    is_archived: true,
  });
  expect(await list("status=archived")).toMatchObject({
    items: [{ id: ids[1], last_reviewed_time: expect.any(String) }],
  });
  expect(await count("status=archived&start_time=2020-01-01T00:00:00Z")).toBe(1);
  expect(await count("status=archived&end_time=2020-01-01T00:00:00Z")).toBe(0);
  expect((await call("POST", status, { status: null })).json).toMatchObject({ status: null, is_archived: false });

  const time = "2026-01-01T00:00:00+00:00";
  const patched = await call("PATCH", `${base(id)}/${ids[2]}`, { added_at: time });
  expect(patched.json).toMatchObject({ id: ids[2], added_at: "2026-01-01T00:00:00.000000+00:00" });
  expect(idsOf(await list("status=needs_my_review"))).toEqual([ids[2], ids[0], ids[1]]);
  // the older endpoints show the latest run of the thread
  const runs = (await call("GET", `/annotation-queues/${id}/runs`)).json as object[];
  expect(runs[2]).toMatchObject({ queue_run_id: ids[1], item_type: "THREAD", id: turns[1]!.id, thread_id: "t1" });
  expect((await call("POST", `${base(id)}/delete`, { item_ids: [ids[0], ids[1]] })).status).toBe(200);
  expect(await count("status=all")).toBe(1);
});

test("removing a run leaves the items of its thread and of its pairs", async () => {
  const id = await queue();
  const { turns, project_id } = await threaded("kept threads", "t2");
  const run_id = turns[1]!.id;
  const items = [{ run_id }, { item_type: "THREAD", thread_id: "t2", project_id }];
  const added = (await call("POST", base(id), { items })).json.items as { id: string }[];
  const path = `/annotation-queues/${id}/runs`;
  expect((await call("POST", `${path}/delete`, { run_ids: [run_id] })).json).toEqual({ deleted: 1 });
  expect((await call("DELETE", `${path}/${run_id}`)).status).toBe(404);
  expect((await call("GET", `${base(id)}?status=needs_my_review`)).json.items).toMatchObject([{ id: added[1]!.id }]);
  expect((await call("DELETE", `${path}/${added[1]!.id}`)).status).toBe(200);

  const body = { name: "kept pairs", queue_type: "pairwise" };
  const pairs = (await call("POST", "/annotation-queues", body)).json.id as string;
  const pair = { run_id, other_run_id: turns[0]!.id };
  const made = (await call("POST", `/annotation-queues/${pairs}/pairs`, { pairs: [pair] })).json.items as {
    id: string;
  }[];
  const ofPairs = `/annotation-queues/${pairs}/runs/delete`;
  expect((await call("POST", ofPairs, { run_ids: [run_id] })).json).toEqual({ deleted: 0 });
  expect((await call("POST", ofPairs, { run_ids: [made[0]!.id] })).json).toEqual({ deleted: 1 });
});

test.each([
  [{ items: [{ item_type: "RUN" }] }, 422],
  [{ items: [{ source_proposed_example_id: randomUUID() }] }, 422],
  [{ items: [{ item_type: "THREAD", thread_id: "t" }] }, 422],
  [{ items: [{ item_type: "THREAD", thread_id: "\0", project_id: randomUUID() }] }, 404],
  [{ items: [{ item_type: "THREAD", thread_id: "no", project_id: randomUUID() }] }, 404],
  [{ items: [{ item_type: "PAIR", run_id: randomUUID() }] }, 422],
  [{ items: [{ run_id: randomUUID() }] }, 404],
  [{ items: "x" }, 422],
])("rejects %j with %i", async (body, status) => {
  expect((await call("POST", base(await queue()), body)).status).toBe(status);
});

test.each([
  "",
  "status=completed",
  "status=all",
  "status=archived&direction=backward",
  "status=archived&page_size=0",
  "status=archived&item_type=PAIR",
])("rejects the list %j", async (query) => {
  expect((await call("GET", `${base(await queue())}?${query}`)).status).toBe(422);
});

test("cursors of others, and other workspaces' queues, are rejected", async () => {
  const id = await queue();
  for (const cursor of [
    "x",
    Buffer.from("[1,2]").toString("base64url"),
    Buffer.from('["2026","x"]').toString("base64url"),
  ]) {
    expect((await call("GET", `${base(id)}?status=archived&cursor=${cursor}`)).status).toBe(400);
  }
  const { turns, project_id } = await threaded("foreign threads", "f");
  const { json } = await call("POST", base(id), { items: [{ run_id: turns[0]!.id }] });
  const [item] = json.items as { id: string }[];
  for (const [method, path, body] of [
    ["GET", `${base(id)}?status=archived`, undefined],
    ["GET", `${base(id)}/count?status=all`, undefined],
    ["GET", `${base(id)}/${item!.id}/placement`, undefined],
    ["POST", base(id), { items: [] }],
    ["PATCH", `${base(id)}/${item!.id}`, {}],
    ["POST", `${base(id)}/delete`, { item_ids: [item!.id] }],
    ["POST", `/v1/platform/annotation-queues/items/${item!.id}/status`, { status: "completed" }],
  ] as const) {
    expect({ path, status: (await call(method, path, body, OTHER)).status }).toEqual({ path, status: 404 });
  }
  const { json: own } = await call("POST", "/annotation-queues", { name: "other" }, OTHER);
  for (const items of [[{ run_id: turns[0]!.id }], [{ item_type: "THREAD", thread_id: "f", project_id }]]) {
    expect((await call("POST", base(own.id), { items }, OTHER)).status).toBe(404);
  }
  expect((await call("GET", `${base(id)}/count?status=all`)).json).toEqual({ count: 1 });
});

test("a page of a queue of 10,000 items is read within a second", async () => {
  const id = await queue();
  const { turns } = await threaded("many", "m");
  await call("POST", base(id), { items: [{ run_id: turns[0]!.id }] });
  await sql`
    insert into annotation_queue_runs (tenant_id, queue_run_id, queue_id, run_id, project_id, trace_id, start_time, added_at)
    select tenant_id, gen_random_uuid(), queue_id, gen_random_uuid(), project_id, trace_id, start_time,
      added_at + n * interval '1 millisecond'
    from annotation_queue_runs, generate_series(1, 9999) n where queue_id = ${id}`;
  const started = performance.now();
  let cursor = "";
  let seen = 0;
  for (let page = 0; page < 3; page++) {
    const { json } = await call("GET", `${base(id)}?status=needs_my_review&cursor=${cursor}`);
    seen += json.items.length;
    cursor = json.next_cursor;
  }
  expect(seen).toBe(300);
  expect(performance.now() - started).toBeLessThan(3000);
  expect((await call("GET", `${base(id)}/count?status=needs_my_review`)).json).toEqual({ count: 10_000 });
});
