import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { createCaller } from "../../../test/call.ts";
import { openGuard, testPrincipal, WORKSPACE } from "../../../test/principal.ts";
import { nextInstant, sampleRun, type SampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { createTraceApp } from "../../trace-app.ts";
import { RunScope } from "../runs/run-scope.ts";
import { exportItems } from "./export-items.ts";

const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };

const { call, sql, platform } = await testTracePlatform();

/** Caller as a reviewer: the holder of a service key with this id, or a user. */
function reviewer(id: string = randomUUID(), kind: "service_key" | "session" = "service_key") {
  const principal = testPrincipal();
  const actor = { kind, id, name: "reviewer", userId: kind === "session" ? id : null };
  const guard = { ...openGuard, authenticator: { authenticate: () => ({ ...principal, actor }) } };
  return { id, call: createCaller(createTraceApp(platform.deps, guard)) };
}

let created = 0;
async function queue(body: Record<string, unknown> = {}): Promise<string> {
  const { status, json } = await call("POST", "/annotation-queues", { name: `queue ${++created}`, ...body });
  expect({ status, json }).toMatchObject({ status: 200 });
  return json.id as string;
}

async function runs(count: number, project = `queued ${++created}`): Promise<SampleRun[]> {
  const list = Array.from({ length: count }, (_, i) => sampleRun(project, { inputs: { question: i } }));
  await sendRuns(call, list);
  return list;
}

async function filled(count: number, body: Record<string, unknown> = {}) {
  const id = await queue(body);
  const list = await runs(count);
  const added = await call(
    "POST",
    `/annotation-queues/${id}/runs`,
    list.map((run) => run.id),
  );
  expect(added.status).toBe(200);
  return { id, runs: list, items: (added.json as { id: string }[]).map((item) => item.id) };
}

const idsIn = (list: { id: string }[]) => list.map((run) => run.id);
const sizes = async (id: string, as = call) => (await as("GET", `/annotation-queues/${id}/progress`)).json;

test("a queue is created, listed, changed and deleted, under all paths", async () => {
  const { json: dataset } = await call("POST", "/datasets", { name: "corrections" });
  const body = {
    id: randomUUID(),
    name: "answers",
    description: "d",
    rubric_instructions: "Read the question first.",
    rubric_items: [
      { feedback_key: "correct", description: "Is it?", is_required: true, score_descriptions: { 1: "yes" } },
    ],
    default_dataset: dataset.id,
    metadata: { a: 1 },
    num_reviewers_per_item: 2,
    reservation_minutes: 5,
  };
  const made = await call("POST", "/api/v1/annotation-queues", body);
  expect(made).toMatchObject({
    status: 200,
    json: { ...body, tenant_id: WORKSPACE, queue_type: "single", enable_reservations: true, assigned_reviewers: [] },
  });
  expect((await call("POST", "/annotation-queues", body)).status).toBe(409);
  expect((await call("GET", `/annotation-queues/${body.id}`)).json).toEqual(made.json);
  for (const query of ["name=answers", "name_contains=ANSW", `ids=${body.id}`, `dataset_id=${dataset.id}`]) {
    const { json } = await call("GET", `/annotation-queues?${query}&limit=10`);
    expect(json).toMatchObject([{ id: body.id, total_runs: 0 }]);
  }
  expect((await call("GET", "/annotation-queues?queue_type=pairwise")).json).toEqual([]);
  expect((await call("GET", `/annotation-queues?ids=${body.id}`, undefined, OTHER)).json).toEqual([]);

  const missing = { __missing__: "__missing__" };
  const patch = { name: "replies", description: null, metadata: missing, num_reviewers_per_item: missing };
  expect((await call("PATCH", `/annotation-queues/${body.id}`, patch)).json).toMatchObject({
    name: "replies",
    description: null,
    metadata: { a: 1 },
    num_reviewers_per_item: 2,
    rubric_instructions: body.rubric_instructions,
  });
  await call("DELETE", `/datasets/${dataset.id}`);
  expect((await call("GET", `/annotation-queues/${body.id}`)).json.default_dataset).toBeNull();

  expect((await call("DELETE", `/annotation-queues/${body.id}`, undefined, OTHER)).status).toBe(404);
  expect((await call("DELETE", `/annotation-queues/${body.id}`)).status).toBe(200);
  expect((await call("GET", `/annotation-queues/${body.id}`)).status).toBe(404);
  const [left, unknown] = [await queue(), randomUUID()];
  const many = await call("DELETE", `/annotation-queues?queue_ids=${left}&queue_ids=${unknown}`);
  expect(many).toMatchObject({ status: 207, json: { deleted: [left], failed: [{ id: unknown }] } });
});

test("rejects an invalid queue with the reason", async () => {
  const key = { feedback_key: "k" };
  for (const [body, word] of [
    [{}, "name"],
    [{ name: " " }, "name"],
    [{ name: "x", num_reviewers_per_item: 0 }, "num_reviewers_per_item"],
    [{ name: "x", reservation_minutes: 0 }, "reservation_minutes"],
    [{ name: "x", reviewer_access_mode: "some" }, "reviewer_access_mode"],
    [{ name: "x", rubric_items: [key, key] }, "twice"],
    [{ name: "x", rubric_items: [{ ...key, regex_validator: "(" }] }, "regex_validator"],
    [{ name: "x", default_dataset: "x" }, "default_dataset"],
  ] as const) {
    const { status, text } = await call("POST", "/annotation-queues", body);
    expect({ status, text }).toMatchObject({ status: 422, text: expect.stringContaining(word) });
  }
  expect((await call("POST", "/annotation-queues", { name: "x", default_dataset: randomUUID() })).status).toBe(404);
  expect((await call("POST", "/annotation-queues", { name: "x", session_ids: [randomUUID()] })).status).toBe(404);
});

test("runs are added once, in order, all or none, and extend their traces' retention", async () => {
  const { id, runs: list } = await filled(3);
  const ids = idsIn(list);
  const again = await call("POST", `/annotation-queues/${id}/runs`, [{ run_id: ids[1] }, { run_id: ids[0] }]);
  expect(again.json).toMatchObject([{ run_id: ids[1], queue_id: id }, { run_id: ids[0] }]);
  const listed = await call("GET", `/api/v1/annotation-queues/${id}/runs?limit=2`);
  expect(idsIn(listed.json)).toEqual(ids.slice(0, 2));
  expect(listed.json[0]).toMatchObject({ inputs: { question: 0 }, trace_tier: "longlived", reserved_by: [] });
  expect(idsIn((await call("GET", `/annotation-queues/${id}/runs?limit=2&offset=2`)).json)).toEqual([ids[2]]);
  expect((await call("GET", `/annotation-queues/${id}/run/1`)).json).toMatchObject({ id: ids[1] });
  expect((await call("GET", `/annotation-queues/${id}/run/3`)).status).toBe(404);
  expect((await call("GET", `/annotation-queues/${ids[0]}/queues`)).json).toMatchObject([{ id }]);
  expect((await call("GET", `/annotation-queues/${ids[0]}/queues`, undefined, OTHER)).status).toBe(404);

  const [more] = await runs(1, "later");
  expect((await call("GET", `/annotation-queues/${more!.id}/queues`)).json).toEqual([]);
  for (const [path, body] of [
    ["runs", [more!.id, randomUUID()]],
    ["runs/by-key", [{ run_id: more!.id, session_id: randomUUID(), start_time: more!.start_time }]],
  ] as const) {
    const { status, text } = await call("POST", `/annotation-queues/${id}/${path}`, body);
    expect({ status, text }).toMatchObject({ status: 404, text: expect.stringContaining("Run not found") });
  }
  expect((await call("POST", `/annotation-queues/${id}/runs`, [more!.id], OTHER)).status).toBe(404);
  expect((await call("GET", `/annotation-queues/${id}/total_size`)).json).toEqual({ size: 3 });
  const { session_id } = (await call("GET", `/runs/${more!.id}`)).json;
  const key = { run_id: more!.id, session_id, start_time: more!.start_time };
  const path = `/annotation-queues/${id}/runs/by-key?extend_trace_retention=false`;
  expect((await call("POST", path, [key])).json).toMatchObject([{ run_id: more!.id }]);
  expect((await call("GET", `/annotation-queues/${id}/runs?offset=3`)).json).toMatchObject([{ trace_upgrade: false }]);
});

test("an item is archived when enough reviewers have completed it", async () => {
  const { id, items } = await filled(2, { num_reviewers_per_item: 2, enable_reservations: false });
  const [a, b] = [reviewer(), reviewer()];
  const complete = (as: typeof a) => as.call("POST", `/annotation-queues/status/${items[0]}`, { status: "completed" });
  expect((await complete(a)).status).toBe(200);
  await complete(a);
  expect(await sizes(id, a.call)).toMatchObject({ needs_my_review: 1, needs_others_review: 1, completed: 0, total: 2 });
  expect(await sizes(id, b.call)).toMatchObject({ needs_my_review: 2, needs_others_review: 0 });
  const mine = await a.call("GET", `/annotation-queues/${id}/runs?status=needs_others_review`);
  expect(mine.json).toMatchObject([{ queue_run_id: items[0], completed_by: [a.id], archived_at: null }]);
  await complete(b);
  expect(await sizes(id, b.call)).toMatchObject({ needs_my_review: 1, completed: 1 });
  expect((await call("GET", `/annotation-queues/${id}/size`)).json).toEqual({ size: 1 });
  expect((await call("GET", `/annotation-queues/${id}/size?status=completed`)).json).toEqual({ size: 1 });
  expect((await call("GET", `/annotation-queues/${id}/total_archived`)).json).toEqual({ size: 1 });
  expect((await call("GET", `/annotation-queues/${id}/total_archived?end_time=2020-01-01`)).json).toEqual({ size: 0 });
  const archived = await call("GET", `/annotation-queues/${id}/runs?archived=true`);
  expect(archived.json).toMatchObject([{ queue_run_id: items[0], completed_by: [a.id, b.id] }]);
  const at = encodeURIComponent(archived.json[0].archived_at);
  const counts = async (query: string) => [
    (await call("GET", `/annotation-queues/${id}/total_archived?${query}`)).json.size,
    (await call("GET", `/api/v1/platform/annotation-queues/${id}/items/count?status=archived&${query}`)).json.count,
  ];
  expect(await counts(`start_time=${at}`)).toEqual([0, 0]);
  expect(await counts(`end_time=${at}`)).toEqual([0, 0]);
  expect(await counts("start_time=2020-01-01T00:00:00Z")).toEqual([1, 1]);
  expect((await sizes(id)).reviewers).toMatchObject([{ completed: 1 }, { completed: 1 }]);
  const place = await call("GET", `/annotation-queues/${id}/runs/resolve/${items[0]}`);
  expect(place.json).toEqual({ section: "completed", position: 0 });
  // a reviewer who takes their review back returns it to the queue
  await a.call("POST", `/annotation-queues/status/${items[0]}`, { status: null });
  expect(await sizes(id, a.call)).toMatchObject({ needs_my_review: 2, completed: 0 });
  await call("PATCH", `/annotation-queues/${id}`, { num_reviewers_per_item: 1 });
  expect(await sizes(id, a.call)).toMatchObject({ needs_my_review: 1, completed: 1 });
});

test("of reviewers who race for the same item exactly one gets it", async () => {
  const { id, items } = await filled(5);
  const people = Array.from({ length: 8 }, () => reviewer());
  const claims = await Promise.all(people.map((each) => each.call("POST", `/annotation-queues/${id}/next`)));
  const got = claims.filter((claim) => claim.status === 200).map((claim) => claim.json.queue_run_id as string);
  expect(got.toSorted()).toEqual(items.toSorted());
  expect(claims.filter((claim) => claim.status === 204)).toHaveLength(3);
  // asking again renews the reservation
  const first = people[claims.findIndex((claim) => claim.status === 200)]!;
  expect((await first.call("POST", `/annotation-queues/${id}/next`)).json.reserved_by).toEqual([first.id]);

  const late = reviewer();
  expect(await sizes(id, late.call)).toMatchObject({ needs_my_review: 0, needs_others_review: 5 });
  const viewed = await late.call("POST", `/annotation-queues/status/${got[0]}`, { status: "viewed" });
  expect(viewed).toMatchObject({ status: 409 });
});

test("with two places an item is given to two reviewers and not to a third", async () => {
  const { id } = await filled(1, { num_reviewers_per_item: 2 });
  const claims = await Promise.all(
    Array.from({ length: 4 }, () => reviewer().call("POST", `/annotation-queues/${id}/next`)),
  );
  expect(claims.map((claim) => claim.status).toSorted()).toEqual([200, 200, 204, 204]);
});

test("a reservation expires, survives a restart, and is bounded when the clock steps back", async () => {
  const { id, items } = await filled(1, { reservation_minutes: 2 });
  const [a, b] = [reviewer(), reviewer()];
  await a.call("POST", `/annotation-queues/${id}/next`);
  // the reservation is a row: another replica on the database respects it
  expect((await b.call("POST", `/annotation-queues/${id}/next`)).status).toBe(204);
  const shift = (by: string) => sql`
    update annotation_queue_reviews set reserved_at = reserved_at + ${by}::text::interval,
      reserved_until = reserved_until + ${by}::text::interval where queue_run_id = ${items[0]!}`;
  // as if the clock had been a year ahead when it was reserved
  await shift("1 year");
  expect(await sizes(id, b.call)).toMatchObject({ needs_my_review: 1 });
  await shift("-1 year");
  expect(await sizes(id, b.call)).toMatchObject({ needs_my_review: 0 });
  await shift("-3 minutes");
  expect((await b.call("POST", `/annotation-queues/${id}/next`)).json.reserved_by).toEqual([b.id]);
  // the late review counts nevertheless
  expect((await a.call("POST", `/annotation-queues/status/${items[0]}`, { status: "completed" })).status).toBe(200);
  expect(await sizes(id, a.call)).toMatchObject({ completed: 1 });
});

test("the progress counts the reservations that are in force, as the items show them", async () => {
  const { id } = await filled(1, { enable_reservations: false, num_reviewers_per_item: 1 });
  const [a, b] = [reviewer(), reviewer()];
  const reserved = async () => {
    const { reviewers } = await sizes(id, b.call);
    return (reviewers as { reserved: number }[]).map((each) => each.reserved);
  };
  expect((await a.call("POST", `/annotation-queues/${id}/next`)).json.reserved_by).toEqual([]);
  expect(await reserved()).toEqual([0]);
  await call("PATCH", `/annotation-queues/${id}`, { enable_reservations: true });
  expect((await a.call("POST", `/annotation-queues/${id}/next`)).json.reserved_by).toEqual([a.id]);
  expect(await reserved()).toEqual([1]);
  // as if the clock had been a year ahead when it was reserved
  await sql`
    update annotation_queue_reviews v set reserved_at = reserved_at + interval '1 year',
      reserved_until = reserved_until + interval '1 year'
    from annotation_queue_runs i where i.queue_run_id = v.queue_run_id and i.queue_id = ${id}`;
  expect(await reserved()).toEqual([0]);
});

test("a skipped item goes to the end of the reviewer's order, and to others at once", async () => {
  const { id, items } = await filled(2);
  const [a, b] = [reviewer(), reviewer()];
  expect((await a.call("POST", `/annotation-queues/${id}/next`)).json.queue_run_id).toBe(items[0]);
  const skip = { status: null, override_added_at: new Date(Date.now() + 1000).toISOString() };
  await a.call("POST", `/annotation-queues/status/${items[0]}`, skip);
  expect((await a.call("POST", `/annotation-queues/${id}/next`)).json.queue_run_id).toBe(items[1]);
  expect((await b.call("POST", `/annotation-queues/${id}/next`)).json.queue_run_id).toBe(items[0]);
});

test("only assigned reviewers review a queue that is theirs", async () => {
  const user = randomUUID();
  const membership = randomUUID();
  await sql`insert into users (id, email, full_name) values (${user}, ${`${user}@a.example`}, 'Ada')`;
  await sql`insert into organizations (id, display_name) values (${user}, 'o')`;
  await sql`insert into workspaces (id, organization_id, display_name) values (${WORKSPACE}, ${user}, 'w')
    on conflict do nothing`;
  await sql`insert into workspace_members (id, workspace_id, user_id, role_id)
    select ${membership}, ${WORKSPACE}, ${user}, id from roles where name = 'WORKSPACE_USER' limit 1`;
  const { id, items } = await filled(1, { reviewer_access_mode: "assigned", num_reviewers_per_item: null });
  const path = `/v1/platform/annotation-queues/${id}/reviewers`;
  expect((await call("POST", path, { identity_id: randomUUID() })).status).toBe(404);
  expect((await call("POST", path, { identity_id: membership }, OTHER)).status).toBe(404);
  for (let i = 0; i < 2; i++) expect((await call("POST", path, { identity_id: membership })).status).toBe(201);
  const assigned = { id: membership, name: "Ada", email: `${user}@a.example` };
  expect((await call("GET", `/annotation-queues/${id}`)).json.assigned_reviewers).toEqual([assigned]);

  const [ada, stranger] = [reviewer(user, "session"), reviewer()];
  expect((await stranger.call("POST", `/annotation-queues/${id}/next`)).status).toBe(403);
  const done = { status: "completed" };
  expect((await stranger.call("POST", `/annotation-queues/status/${items[0]}`, done)).status).toBe(403);
  expect((await ada.call("GET", "/annotation-queues?assigned_to_me=true")).json).toMatchObject([{ id }]);
  expect((await stranger.call("GET", "/annotation-queues?assigned_to_me=true")).json).toEqual([]);
  expect((await ada.call("POST", `/annotation-queues/${id}/next`)).json.reserved_by).toEqual([membership]);
  await ada.call("POST", `/annotation-queues/status/${items[0]}`, done);
  expect(await sizes(id, ada.call)).toMatchObject({ completed: 1, reviewers: [{ ...assigned, completed: 1 }] });
  for (let i = 0; i < 2; i++) expect((await call("DELETE", `${path}/${membership}`)).status).toBe(204);
});

test("a queue is populated from projects, by default with their roots, or by a filter", async () => {
  const project = "populating";
  const start = nextInstant();
  const roots = [sampleRun(project, { tags: ["bad"] }), sampleRun(project)];
  const child = sampleRun(project, { run_type: "llm" }, { parent: roots[0]! });
  await sendRuns(call, [...roots, child]);
  const { session_id } = (await call("GET", `/runs/${child.id}`)).json;
  const id = await queue();
  const populate = (more: object) =>
    call("POST", "/annotation-queues/populate", { queue_id: id, session_ids: [session_id], ...more });
  expect((await populate({ filter: 'has(tags, "bad")' })).json).toEqual({ matched: 1, added: 1 });
  expect((await populate({ start_time: start })).json).toEqual({ matched: 2, added: 1 });
  expect((await populate({ run_type: "llm" })).json).toEqual({ matched: 1, added: 1 });
  expect(idsIn((await call("GET", `/annotation-queues/${id}/runs`)).json)).toEqual([
    roots[0]!.id,
    roots[1]!.id,
    child.id,
  ]);
  expect((await populate({ filter: "no" })).status).toBe(400);
  expect((await populate({ session_ids: [randomUUID()] })).status).toBe(404);
  expect((await populate({ queue_id: randomUUID() })).status).toBe(404);
  const whole = await queue({ session_ids: [session_id] });
  expect((await call("GET", `/annotation-queues/${whole}/total_size`)).json).toEqual({ size: 2 });
});

test("a run that was deleted is shown as such, and removed by its id or the item's", async () => {
  const { id, runs: list, items } = await filled(3);
  const { session_id } = (await call("GET", `/runs/${list[0]!.id}`)).json;
  const deletion = { session_id, trace_ids: [list[0]!.id] };
  expect((await call("POST", "/runs/delete", deletion)).status).toBeLessThan(300);
  const [first, second] = (await call("GET", `/annotation-queues/${id}/runs`)).json;
  expect(first).toMatchObject({ id: list[0]!.id, status: "deleted", queue_run_id: items[0], outputs: null });
  expect(second.status).toBe("success");
  const path = `/annotation-queues/${id}/runs`;
  expect((await call("DELETE", `${path}/${items[0]}`)).status).toBe(200);
  expect((await call("DELETE", `${path}/${list[1]!.id}`)).status).toBe(200);
  expect((await call("DELETE", `${path}/${items[0]}`)).status).toBe(404);
  expect((await call("POST", `${path}/delete`, {})).status).toBe(422);
  const kept = { delete_all: true, exclude_run_ids: [items[2]] };
  expect((await call("POST", `${path}/delete`, kept)).json).toEqual({ deleted: 0 });
  const time = "2026-01-01T00:00:00+00:00";
  expect((await call("PATCH", `${path}/${items[2]}`, { last_reviewed_time: time })).status).toBe(200);
  expect((await call("GET", path)).json).toMatchObject([{ last_reviewed_time: "2026-01-01T00:00:00.000000+00:00" }]);
  expect((await call("POST", `${path}/delete`, { delete_all: true })).json).toEqual({ deleted: 1 });
});

test("exports items with their feedback, as CSV and as JSON", async () => {
  const { id, runs: list } = await filled(2);
  await call("POST", "/feedback", { run_id: list[0]!.id, key: "correct", score: 1, comment: 'a "b", c' });
  await call("POST", "/feedback", { run_id: list[0]!.id, key: "correct", score: 0 });
  await call("POST", "/feedback", { run_id: list[1]!.id, key: "kind", value: "late" });
  const json = await call("POST", `/annotation-queues/${id}/export?format=json`, { include_annotator_detail: true });
  expect(json.json).toMatchObject([
    {
      run_id: list[0]!.id,
      inputs: { question: 0 },
      "feedback.correct": 0.5,
      "feedback.correct.details": [{ score: 0 }, { score: 1, comment: 'a "b", c' }],
      "feedback.kind": null,
    },
    { run_id: list[1]!.id, "feedback.kind": "late", status: "needs_my_review" },
  ]);
  const csv = await call("POST", `/annotation-queues/${id}/export`, {});
  const lines = csv.text.split("\r\n");
  expect(lines[0]).toBe(
    "queue_run_id,run_id,name,status,added_at,completed_at,reviewers,inputs,outputs,feedback.correct,feedback.kind,comments",
  );
  expect(lines[1]).toContain('0.5,,"a ""b"", c"');
  expect(lines).toHaveLength(4);
  const none = await call("POST", `/annotation-queues/${id}/export?format=json`, { end_time: "2020-01-01" });
  expect(none.json).toEqual([]);
});

test("an export has each item once, also while items are removed", async () => {
  const { id, items } = await filled(60);
  const request = { format: "csv", detail: false, added: {} } as const;
  const lines = exportItems(platform.deps, RunScope.ofTenant(WORKSPACE), WORKSPACE, id, request);
  const read = async () => (await lines.next()).value as string | undefined;
  const exported = [await read(), await read()].slice(1);
  await call("POST", `/annotation-queues/${id}/runs/delete`, { run_ids: items.slice(0, 10) });
  for (let line = await read(); line !== undefined; line = await read()) exported.push(line);
  expect(exported.map((line) => line!.split(",", 1)[0])).toEqual(items);
});

test("keys without a user are judges of their own", async () => {
  const { id, items } = await filled(1, { num_reviewers_per_item: 2 });
  for (const [score, { call: as }] of [1, 0].map((score) => [score, reviewer()] as const)) {
    const answers = [{ feedback_key: "correct", score }];
    expect((await as("POST", `/annotation-queues/${id}/runs/${items[0]}/review`, { answers })).status).toBe(200);
  }
  const { json } = await call("GET", `/annotation-queues/${id}/agreement`);
  expect(json.keys).toMatchObject([{ feedback_key: "correct", items: 1, reviewers: 2, percent_agreement: 0 }]);
});

test("measures the agreement of reviewers from their latest judgements", async () => {
  const { id, runs: list } = await filled(2);
  const [a, b] = [reviewer(randomUUID(), "session"), reviewer(randomUUID(), "session")];
  const judge = (as: typeof a, run: number, score: number, more = {}) =>
    as.call("POST", "/feedback", { run_id: list[run]!.id, key: "correct", score, ...more });
  await judge(a, 0, 0);
  await judge(a, 0, 1);
  await judge(b, 0, 1);
  await judge(a, 1, 1);
  await judge(b, 1, 0);
  await judge(a, 1, 0, { feedback_source: { type: "auto_eval" } });
  const { json } = await call("GET", `/annotation-queues/${id}/agreement`);
  expect(json).toEqual({
    keys: [{ feedback_key: "correct", items: 2, reviewers: 2, percent_agreement: 0.5, kappa: 0, method: "cohen" }],
    is_truncated: false,
  });
});

test("permissions separate reading, reviewing, creating and deleting", async () => {
  const { id, items } = await filled(1);
  const reader = testPrincipal(WORKSPACE, ["annotation-queues:read"]);
  const guard = { ...openGuard, authenticator: { authenticate: () => reader } };
  const read = createCaller(createTraceApp(platform.deps, guard));
  expect((await read("GET", `/annotation-queues/${id}/runs`)).status).toBe(200);
  for (const [method, path, body] of [
    ["POST", "/annotation-queues", { name: "x" }],
    ["PATCH", `/annotation-queues/${id}`, { name: "x" }],
    ["DELETE", `/annotation-queues/${id}`, undefined],
    ["POST", `/annotation-queues/${id}/next`, undefined],
    ["POST", `/annotation-queues/status/${items[0]}`, { status: "completed" }],
    ["POST", `/annotation-queues/${id}/runs`, []],
  ] as const) {
    expect({ path, status: (await read(method, path, body)).status }).toEqual({ path, status: 403 });
  }
});
