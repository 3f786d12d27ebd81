import { Registry } from "prom-client";
import { expect, test } from "vitest";

import { WORKSPACE } from "../../../test/principal.ts";
import { sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { createTraceApp } from "../../trace-app.ts";
import { createCaller } from "../../../test/call.ts";
import { openGuard } from "../../../test/principal.ts";
import { uuid7 } from "../../base/ids.ts";
import { measureWaitingPieces } from "./measure-waiting-pieces.ts";
import { RunWriter } from "./run-writer.ts";

const { call, platform, clickhouse, sql } = await testTracePlatform();

/** Runs `work` against the same stores through a process without cached runs. */
async function afterRestart<T>(work: (call: typeof callAgain) => Promise<T>): Promise<T> {
  const writer = new RunWriter({ ...platform.deps, registry: new Registry() });
  writer.start();
  const callAgain = createCaller(createTraceApp({ ...platform.deps, writer }, openGuard));
  try {
    return await work(callAgain);
  } finally {
    await writer.stop();
  }
}
const callAgain = call;

const read = async (id: string) => (await call("GET", `/runs/${id}`)).json;
const send = async (by: typeof call, body: object) => expect((await by("POST", "/runs/batch", body)).status).toBe(202);

const [start, end] = ["2026-11-21T10:00:00.000001Z", "2026-11-21T10:00:01.000000Z"];
const run = (id: string) => ({
  id,
  trace_id: id,
  dotted_order: `20261121T100000000001Z${id}`,
  session_name: "late",
});
const create = (id: string) => ({
  ...run(id),
  name: "as created",
  run_type: "chain",
  start_time: start,
  inputs: { n: 1 },
  outputs: null,
  tags: ["created"],
  events: [{ name: "start" }],
  extra: { metadata: { a: "created", b: "created" } },
});
const update = (id: string) => ({
  ...run(id),
  name: "as updated",
  end_time: end,
  start_time: start,
  outputs: { n: 2 },
  tags: ["updated"],
  events: [{ name: "start" }, { name: "end" }],
  extra: { metadata: { a: "updated" } },
});
const updated = {
  name: "as updated",
  outputs: { n: 2 },
  inputs: { n: 1 },
  tags: ["updated"],
  events: [{ name: "start" }, { name: "end" }],
  extra: { metadata: { a: "updated", b: "created" } },
  status: "success",
};

test("a late create does not undo its update, also after a restart", async () => {
  const [first, again, merged] = [uuid7(), crypto.randomUUID(), uuid7()];
  // the update creates the run, or the create is repeated
  await send(call, { patch: [update(first)] });
  await send(call, { post: [create(again)] });
  await send(call, { patch: [update(again)] });
  await send(call, { post: [create(merged)] });
  await send(call, { patch: [update(merged)] });
  await clickhouse.command({
    name: "test",
    query: "optimize table runs final",
  });
  await afterRestart(async (call) => {
    await send(call, { post: [create(first), create(again)] });
    await send(call, { post: [create(merged)] });
  });
  for (const id of [first, again, merged]) expect(await read(id)).toMatchObject(updated);
});

test("merges pieces across several restarts", async () => {
  const id = uuid7();
  await send(call, { post: [create(id)] });
  await afterRestart((call) => send(call, { patch: [update(id)] }));
  await afterRestart((call) => send(call, { patch: [{ ...run(id), error: "Error: late" }] }));
  await afterRestart((call) => send(call, { post: [create(id)] }));
  expect(await read(id)).toMatchObject({
    ...updated,
    status: "error",
    error: "Error: late",
  });
});

test("finds an update that is no longer cached through the Bloom filter", async () => {
  const id = uuid7();
  await send(call, { post: [create(id)] });
  await send(call, { patch: [update(id)] });
  // as if 50,000 other runs had arrived since
  await platform.deps.writer.forget({ traces: [uuid7()] });
  await send(call, { post: [create(id)] });
  expect(await read(id)).toMatchObject(updated);
});

test("late pieces do not restore a deleted trace, also after a restart", async () => {
  const root = sampleRun("gone");
  const child = sampleRun("gone", {}, { parent: root });
  const orphan = sampleRun("gone", {}, { parent: sampleRun("gone") });
  await sendRuns(call, [root, child, orphan]);
  await call("POST", "/runs/delete", { trace_ids: [root.id, orphan.trace_id] });
  const unseen = sampleRun("gone", {}, { parent: root });
  const unseenRoot = {
    ...sampleRun("gone"),
    id: orphan.trace_id,
    trace_id: orphan.trace_id,
  };
  const late = async (by: typeof call) => {
    await send(by, {
      post: [root, child, orphan, unseen].map((run) => ({
        ...run,
        session_name: "gone",
      })),
    });
    await send(by, {
      post: [{ ...create(unseenRoot.id), session_name: "gone" }],
    });
    await send(by, {
      patch: [
        {
          ...update(child.id),
          trace_id: root.id,
          dotted_order: child.dotted_order,
        },
      ],
    });
    for (const { id } of [root, child, orphan, unseen, unseenRoot]) {
      expect((await call("GET", `/runs/${id}`)).status).toBe(404);
    }
  };
  await late(call);
  await afterRestart(late);
  const rest = "select count() as n from runs where trace_id in ({a:UUID}, {b:UUID})";
  const params = { a: root.id, b: orphan.trace_id };
  expect(await clickhouse.rows({ name: "test", query: rest, params })).toEqual([{ n: 0 }]);
});

test("runs of a deleted project stay deleted, and a new project of its name starts empty", async () => {
  const old = sampleRun("again");
  await sendRuns(call, [old]);
  const [project] = (await call("GET", "/sessions?name=again")).json;
  expect((await call("DELETE", `/sessions/${project.id}`)).status).toBe(200);
  const fresh = sampleRun("again");
  await sendRuns(call, [old, fresh]);
  expect((await call("GET", `/runs/${old.id}`)).status).toBe(404);
  expect((await call("GET", `/runs/${fresh.id}`)).status).toBe(200);
  const [now] = await sql<{ id: string }[]>`
    select project_id as id from projects where tenant_id = ${WORKSPACE} and name = 'again'`;
  expect(now!.id).not.toBe(project.id);
});

test("a deletion waits for updates in progress", async () => {
  const runs = Array.from({ length: 20 }, () => sampleRun("under way"));
  await sendRuns(call, runs);
  const trace_ids = runs.map((run) => run.id);
  const updates = runs.map((run) => call("PATCH", `/runs/${run.id}`, { outputs: { late: true } }));
  const [deleted] = await Promise.all([call("POST", "/runs/delete", { trace_ids }), ...updates]);
  expect(deleted.status).toBe(200);
  const query = "select count() as n from runs where trace_id in {ids:Array(UUID)}";
  expect(await clickhouse.rows({ name: "test", query, params: { ids: trace_ids } })).toEqual([{ n: 0 }]);
});

test("metrics count the updates that wait for their run, with the age of the oldest", async () => {
  const registry = new Registry();
  measureWaitingPieces(registry, { sql, log: platform.deps.log });
  const [{ n }] = (await sql`select count(*)::int as n from waiting_pieces`) as unknown as [{ n: number }];
  await sql`insert into waiting_pieces (tenant_id, run_id, needs, kind, piece, received_at)
    values (${WORKSPACE}, ${uuid7()}, ${uuid7()}, 'update', '{}', now() - interval '1 hour')`;
  const text = await registry.metrics();
  await sql`delete from waiting_pieces where piece = '{}'`;
  expect(text).toContain(`heddle_ingest_waiting_pieces ${n + 1}\n`);
  expect(text).toMatch(/^heddle_ingest_waiting_oldest_seconds \d/m);
});
