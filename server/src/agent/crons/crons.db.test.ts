/** Cron endpoints, and the runs that a whole server starts for crons. */
import { beforeAll, expect, test, vi } from "vitest";

import { type TestAgentServer, testAgentServer } from "../../../test/agent-server.ts";
import { receiver } from "../../../test/receiver.ts";

let server: TestAgentServer;
beforeAll(async () => {
  server = await testAgentServer();
});

const YEARLY = { schedule: "0 0 1 1 *", assistant_id: "trail", input: { topic: "x" } };
const waitFor = <T>(what: () => T | Promise<T>) => vi.waitFor(what, { timeout: 20_000, interval: 20 });
const call: TestAgentServer["call"] = (...args) => server.call(...args);
const newThread = async () => (await call("POST", "/threads", {})).json.thread_id as string;
async function create(body: object, thread?: string) {
  const response = await call("POST", thread ? `/threads/${thread}/runs/crons` : "/runs/crons", { ...YEARLY, ...body });
  expect(response).toMatchObject({ status: 200 });
  return response.json;
}
/** Moves the cron's due date into the past. */
async function makeDue(id: string, ago = "1 second"): Promise<void> {
  await server.sql`
    update crons set next_run_date = date_trunc('minute', now()) - ${ago}::text::interval where cron_id = ${id}`;
  server.agent.deps.crons.wake();
}
const selectCronRuns = (id: string) => server.sql<
  { run_id: string; thread_id: string; status: string; metadata: object }[]
>`
  select run_id, thread_id, status, metadata from runs where metadata ->> 'cron_id' = ${id} order by seq`;

test("creates, reads, changes, searches, counts and deletes a cron", async () => {
  const end_time = "2040-01-01T00:00:00+00:00";
  const cron = await create({
    timezone: "Europe/Berlin",
    end_time,
    metadata: { of: "crud" },
    on_run_completed: "keep",
  });
  expect(cron).toMatchObject({
    thread_id: null,
    schedule: "0 0 1 1 *",
    timezone: "Europe/Berlin",
    end_time,
    enabled: true,
    on_run_completed: "keep",
    payload: { input: { topic: "x" } },
    metadata: { of: "crud" },
    user_id: null,
  });
  expect(cron.next_run_date).toMatch(/^\d{4}-12-31T23:00:00\+00:00$/);
  const path = `/runs/crons/${cron.cron_id}`;
  expect((await call("GET", path)).json).toEqual(cron);

  const changed = await call("PATCH", path, {
    schedule: "0 12 * * *",
    timezone: null,
    end_time: null,
    metadata: { b: 1 },
  });
  expect(changed.json).toMatchObject({ timezone: null, end_time: null, metadata: { of: "crud", b: 1 }, enabled: true });
  expect(changed.json.next_run_date).toMatch(/T12:00:00\+00:00$/);
  expect(changed.json.payload).toEqual(cron.payload);
  expect((await call("PATCH", path, { enabled: false })).json).toMatchObject({ enabled: false, next_run_date: null });
  expect((await call("PATCH", path, { metadata: { b: 2 } })).json).toMatchObject({
    next_run_date: null,
    schedule: "0 12 * * *",
  });
  expect((await call("PATCH", path, { enabled: true })).json.next_run_date).toMatch(/T12:00:00/);
  expect((await call("PATCH", path, { input: { topic: "y" } })).json.payload.input).toEqual({ topic: "y" });

  await create({ metadata: { of: "crud", n: 2 }, enabled: false });
  const search = (body: object) => call("POST", "/runs/crons/search", { metadata: { of: "crud" }, ...body });
  expect((await search({})).json.map((item: { metadata: object }) => item.metadata)).toEqual([
    { of: "crud", n: 2 },
    { of: "crud", b: 2 },
  ]);
  const page = await search({ limit: 1 });
  expect([page.json.length, page.headers.get("x-pagination-total"), page.headers.get("x-pagination-next")]).toEqual([
    1,
    "2",
    "1",
  ]);
  expect((await search({ offset: 1, limit: 1 })).headers.get("x-pagination-next")).toBeNull();
  expect((await search({ enabled: true })).json).toHaveLength(1);
  expect((await search({ assistant_id: "trail" })).json).toHaveLength(2);
  expect((await search({ assistant_id: "nobody" })).json).toHaveLength(0);
  expect(
    (await search({ sort_by: "next_run_date", sort_order: "asc" })).json.map((c: { enabled: boolean }) => c.enabled),
  ).toEqual([true, false]);
  expect(Object.keys((await search({ select: ["cron_id", "now"], limit: 1 })).json[0])).toEqual(["cron_id", "now"]);
  const count = (body: object) => call("POST", "/runs/crons/count", body);
  expect((await count({ metadata: { of: "crud" } })).json).toBe(2);
  expect((await count({ metadata: { of: "nobody" } })).json).toBe(0);
  expect((await count({ metadata: { of: "crud" }, enabled: true })).json).toBe(1);

  expect((await call("DELETE", path)).status).toBe(204);
  expect((await call("GET", path)).status).toBe(404);
  expect((await call("DELETE", path)).status).toBe(404);
  expect((await call("PATCH", path, {})).status).toBe(404);
});

test("creates a thread's cron under both spellings of its path, and deletes it with the thread", async () => {
  const thread = await newThread();
  const cron = await create({}, thread);
  expect(cron.thread_id).toBe(thread);
  const other = await call("POST", `/thread/${thread}/runs/crons`, YEARLY);
  expect(other.json.thread_id).toBe(thread);
  expect((await call("POST", "/runs/crons/count", { thread_id: thread })).json).toBe(2);
  await call("DELETE", `/threads/${thread}`);
  expect((await call("GET", `/runs/crons/${cron.cron_id}`)).status).toBe(404);
  const unknownId = "00000000-0000-7000-8000-000000000000";
  expect((await call("POST", `/threads/${unknownId}/runs/crons`, YEARLY)).status).toBe(404);
});

test("deletes an assistant's crons with the assistant", async () => {
  const { assistant_id } = (await call("POST", "/assistants", { graph_id: "trail" })).json;
  const cron = await create({ assistant_id });
  expect((await call("DELETE", `/assistants/${assistant_id}`)).status).toBe(200);
  expect((await call("GET", `/runs/crons/${cron.cron_id}`)).status).toBe(404);
});

test.each([
  [{ schedule: "0 0 31 2 *" }, /no date matches it/],
  [{ schedule: "every day" }, /five fields/],
  [{ schedule: "* * * * * *" }, /five fields/],
  [{ schedule: "61 * * * *" }, /Invalid schedule/],
  [{ schedule: 5 }, /schedule/],
  [{ schedule: "" }, /schedule/],
  [{ schedule: "*".repeat(1000) }, /schedule/],
  [{ timezone: "Mars/Olympus" }, /Invalid timezone/],
  [{ timezone: 5 }, /timezone/],
  [{ end_time: "tomorrow" }, /end_time/],
  [{ on_run_completed: "explode" }, /on_run_completed/],
  [{ enabled: "yes" }, /enabled/],
  [{ multitask_strategy: "wait" }, /multitask_strategy/],
  [{ webhook: "http://169.254.169.254/" }, /metadata service/],
  // fields of a run body, but not of a cron's: never dropped silently
  [{ feedback_keys: ["thumbs"] }, /feedback_keys: cannot be set for crons/],
  [{ command: { resume: 1 } }, /command: cannot be set for crons/],
  [{ checkpoint_id: "1ef" }, /checkpoint_id: cannot be set for crons/],
  [{ checkpoint: {} }, /checkpoint: cannot be set for crons/],
  [{ after_seconds: 5 }, /after_seconds: cannot be set for crons/],
  [{ langsmith_tracer: { project_name: "p" } }, /langsmith_tracer: cannot be set for crons/],
  [{ on_completion: "keep" }, /use on_run_completed/],
  [{ strict_resume: true }, /strict_resume: cannot be set for crons/],
  [{ config: { configurable: { checkpoint_id: "1ef" } } }, /configurable.checkpoint_id: cannot be set for crons/],
  // as for a run
  [{ config: { heddle: { queue: { priority: "first" } } } }, /no class "first"/],
  [{ config: { max_concurrency: 0 } }, /max_concurrency/],
  [{ config: { metadata: "text" } }, /metadata/],
])("rejects %j in creations and changes", async (wrong, message) => {
  const created = await call("POST", "/runs/crons", { ...YEARLY, ...wrong });
  expect([created.status, created.text]).toEqual([422, expect.stringMatching(message)]);
  const { cron_id } = await create({});
  const changed = await call("PATCH", `/runs/crons/${cron_id}`, wrong);
  expect([changed.status, changed.text]).toEqual([422, expect.stringMatching(message)]);
});

test("rejects unknown assistants", async () => {
  for (const assistant_id of ["nobody", "00000000-0000-7000-8000-000000000000"]) {
    const response = await call("POST", "/runs/crons", { ...YEARLY, assistant_id });
    expect([response.status, response.text]).toEqual([404, expect.stringContaining("No assistant found")]);
  }
});

test("a due cron starts a run on a temporary thread and calls the webhook", async () => {
  const hook = await receiver();
  const cron = await create({ metadata: { mine: 1 }, webhook: `${hook.url}/cron?token=t`, config: { tags: ["t"] } });
  await makeDue(cron.cron_id);
  await waitFor(() => expect(hook.received).toHaveLength(1));
  const message = hook.received[0]!.json;
  expect(message).toMatchObject({
    status: "success",
    metadata: { mine: 1, cron_id: cron.cron_id },
    kwargs: { input: { topic: "x" }, config: { tags: ["t"] } },
  });
  expect(message).not.toHaveProperty("values");
  await waitFor(async () => expect((await call("GET", `/threads/${message.thread_id}`)).status).toBe(404));
  const again = await call("GET", `/runs/crons/${cron.cron_id}`);
  expect(again.json.next_run_date).toBe(cron.next_run_date);
});

test("keep preserves the thread, a disabled cron starts nothing, and a thread's cron uses that thread", async () => {
  const keep = await create({ on_run_completed: "keep" });
  await makeDue(keep.cron_id);
  const [keptRun] = await waitFor(async () => {
    const runs = await selectCronRuns(keep.cron_id);
    expect(runs[0]?.status).toBe("success");
    return runs;
  });
  expect((await call("GET", `/threads/${keptRun!.thread_id}`)).json.values).toMatchObject({ topic: "x" });

  const disabled = await create({ enabled: false });
  await makeDue(disabled.cron_id);
  const thread = await newThread();
  const onThread = await create({}, thread);
  await makeDue(onThread.cron_id);
  const [run] = await waitFor(async () => {
    const runs = await selectCronRuns(onThread.cron_id);
    expect(runs[0]?.status).toBe("success");
    return runs;
  });
  expect(run!.thread_id).toBe(thread);
  expect(await selectCronRuns(disabled.cron_id)).toHaveLength(0);
});

test("headers and configuration of the cron's creator reach its runs", async () => {
  const response = await call(
    "POST",
    "/runs/crons",
    { ...YEARLY, on_run_completed: "keep", config: { configurable: { model: "m" } } },
    { "x-mine": "yes" },
  );
  await makeDue(response.json.cron_id as string);
  const [run] = await waitFor(async () => {
    const runs = await selectCronRuns(response.json.cron_id as string);
    expect(runs).toHaveLength(1);
    return runs;
  });
  const { json } = await call("GET", `/threads/${run!.thread_id}/runs/${run!.run_id}`);
  expect(json.kwargs.config.configurable).toMatchObject({ model: "m", "x-mine": "yes" });
});

test("a cron whose run is still pending adds no further run", async () => {
  const thread = await newThread();
  const busy = await call("POST", `/threads/${thread}/runs`, { assistant_id: "slow", input: { topic: "x" } });
  const cron = await create({ schedule: "* * * * *" }, thread);
  for (let n = 0; n < 3; n++) {
    await makeDue(cron.cron_id);
    await waitFor(async () => {
      const [row] = await server.sql<{ due: boolean }[]>`
        select next_run_date <= now() as due from crons where cron_id = ${cron.cron_id}`;
      expect(row!.due).toBe(false);
    });
  }
  expect(await selectCronRuns(cron.cron_id)).toHaveLength(1);
  await call("PATCH", `/runs/crons/${cron.cron_id}`, { enabled: false });
  await call("POST", `/threads/${thread}/runs/${busy.json.run_id}/cancel?wait=1`);
  await waitFor(async () => expect((await selectCronRuns(cron.cron_id))[0]!.status).toBe("success"));
});

test("strategy reject skips the occurrence on a busy thread", async () => {
  const thread = await newThread();
  const busy = await call("POST", `/threads/${thread}/runs`, { assistant_id: "slow", input: { topic: "x" } });
  const cron = await create({ multitask_strategy: "reject" }, thread);
  await makeDue(cron.cron_id);
  await waitFor(async () => {
    const { json } = await call("GET", `/runs/crons/${cron.cron_id}`);
    expect(json.next_run_date).toBe(cron.next_run_date);
  });
  expect(await selectCronRuns(cron.cron_id)).toHaveLength(0);
  await call("POST", `/threads/${thread}/runs/${busy.json.run_id}/cancel?wait=1`);
});

test("a cron starts its run on time, not earlier", async () => {
  const cron = await create({ on_run_completed: "keep" });
  await server.sql`update crons set next_run_date = now() + interval '1.2 seconds' where cron_id = ${cron.cron_id}`;
  // as a change through the API does
  server.agent.deps.crons.wake();
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect(await selectCronRuns(cron.cron_id)).toHaveLength(0);
  const [run] = await waitFor(async () => {
    const runs = await selectCronRuns(cron.cron_id);
    expect(runs).toHaveLength(1);
    return runs;
  });
  expect(run!.metadata).toHaveProperty("cron_scheduled_for");
});

test("a run is started beside the schedule, also of a paused cron, and the next occurrence stays", async () => {
  const thread = await newThread();
  const bound = await create({ metadata: { of: "now" } }, thread);
  const trigger = (id: string) => call("POST", `/runs/crons/${id}/trigger`);
  const { status, json } = await trigger(bound.cron_id);
  expect([status, json]).toEqual([200, { cron_id: bound.cron_id, run_id: expect.any(String), thread_id: thread }]);
  await waitFor(async () =>
    expect(await selectCronRuns(bound.cron_id)).toMatchObject([
      { run_id: json.run_id, status: "success", metadata: { of: "now", cron_id: bound.cron_id } },
    ]),
  );
  expect((await call("GET", `/runs/crons/${bound.cron_id}`)).json.next_run_date).toBe(bound.next_run_date);

  const paused = await create({ enabled: false, on_run_completed: "keep" });
  const started = (await trigger(paused.cron_id)).json;
  await waitFor(async () =>
    expect(await selectCronRuns(paused.cron_id)).toMatchObject([{ run_id: started.run_id, status: "success" }]),
  );
  expect((await call("GET", `/runs/crons/${paused.cron_id}`)).json).toMatchObject({
    enabled: false,
    next_run_date: null,
  });
  expect((await trigger("00000000-0000-7000-8000-0000000000ff")).status).toBe(404);

  const busy = await call("POST", `/threads/${thread}/runs`, { assistant_id: "slow", input: { topic: "x" } });
  const rejecting = await create({ multitask_strategy: "reject" }, thread);
  expect(await trigger(rejecting.cron_id)).toMatchObject({ status: 422, text: expect.stringContaining(thread) });
  await call("POST", `/threads/${thread}/runs/${busy.json.run_id}/cancel?wait=1`);
});
