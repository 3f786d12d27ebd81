/** Events of protocol v2 as frames of their runs' streams: numbered once, and ended by the commit that ends the run. */
import { expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { sseFrame } from "../../base/events/sse.ts";
import { uuid7 } from "../../base/ids.ts";
import { selectEvents, selectLastSeqs } from "../protocol/sql.ts";
import { cancelRunRow } from "../runs/sql.ts";
import { countEvents, eventFrameName } from "./protocol-frames.ts";
import { endKeptRuns, keepFrames, selectKeptStream } from "./sql.ts";

const { sql } = await testDatabase();
const assistant = uuid7();
await sql`insert into assistants (assistant_id, graph_id, name) values (${assistant}, 'g', 'g')`;

/** Inserts a run of the protocol; without a thread, on a new one. */
async function newRun(status: "pending" | "running", threadId = uuid7()) {
  const runId = uuid7();
  const running = status === "running";
  await sql`insert into threads (thread_id, status, running_run_id) values (${threadId}, 'busy', ${running ? runId : null})
    on conflict do nothing`;
  await sql`insert into runs (run_id, thread_id, assistant_id, status, attempt, kwargs)
    values (${runId}, ${threadId}, ${assistant}, ${status}, ${running ? 1 : 0},
            ${sql.json({ protocol: "v2", config: { configurable: { graph_id: "g" } } })})`;
  return { runId, threadId };
}

const event = (n: number, channel: string, data: object) =>
  sseFrame(n, `protocol:${JSON.stringify([channel])}`, JSON.stringify({ namespace: [], data })).toString();

const seen = async (threadId: string) =>
  (await selectEvents(sql, threadId, 0)).map(({ seq, channel, json }) => {
    const { data } = JSON.parse(json).params as { data: { event?: string } };
    return `${seq} ${channel} ${data.event ?? ""}`.trim();
  });

test("counts events and the interrupts that they announce", () => {
  expect(countEvents(sseFrame(0, "values", '{"a":"event: protocol:[1]"}').toString())).toEqual({
    events: 0,
    interrupts: null,
  });
  const name = eventFrameName(JSON.stringify(["input", "a\u2028b"]));
  const asked = sseFrame(2, `protocol:${name}`, '{"namespace":[],"data":{"interrupt_id":"i2"}}').toString();
  const frames =
    sseFrame(0, "metadata", "{}") + event(1, "input", { interrupt_id: "i1" }) + asked + event(3, "values", {});
  expect(countEvents(frames)).toEqual({ events: 3, interrupts: "i1\ni2" });
  expect(countEvents(event(0, "input:x", {}) + event(1, "inputs", {}))).toEqual({ events: 2, interrupts: null });
});

test("events are numbered once over the thread, and a run's last one is stored with its end", async () => {
  const run = await newRun("running");
  const { threadId } = run;
  const rest = { ...run, attempt: 1, marks: null, status: null, notify: false };
  const metadata = sseFrame(0, "metadata", "{}").toString();
  const begun = { ...rest, first: 0, count: 2, frames: metadata + event(1, "lifecycle", { event: "running" }) };
  expect(await keepFrames(sql, [begun])).toMatchObject([{ outcome: "stored", stored: 2, seq: 1 }]);
  expect(await keepFrames(sql, [begun])).toMatchObject([{ outcome: "stored", stored: 2, seq: 1 }]);
  // another run of the thread ends before it starts
  const waiting = await newRun("pending", threadId);
  expect((await cancelRunRow(sql, { ...waiting, action: "interrupt", reason: null })).outcome).toBe("cancelled");
  expect(await seen(threadId)).toEqual(["1 lifecycle running", "2 lifecycle interrupted"]);
  expect(await selectKeptStream(sql, waiting.runId)).toMatchObject({ status: "interrupted", frames: 0 });

  const end = { ...run, attempt: 1, outcome: "success", error: null, state: null } as const;
  const tail = { first: 2, count: 2, frames: event(2, "values", {}) + event(3, "custom", {}), last: null };
  const whole = [{ outcome: "success", waiting: false, stored: 4, seq: 5 }];
  expect(await endKeptRuns(sql, [{ ...end, ...tail }], false)).toEqual(whole);
  expect(await endKeptRuns(sql, [{ ...end, ...tail }], false)).toEqual(whole);
  expect((await seen(threadId)).slice(2)).toEqual(["3 values", "4 custom", "5 lifecycle completed"]);
  expect((await selectLastSeqs(sql, [threadId])).get(threadId)).toBe(5);
});

test("a run that ended with interrupts is interrupted, and one that was rolled back too", async () => {
  const run = await newRun("running");
  const end = { ...run, attempt: 1, outcome: "success", error: null, state: null } as const;
  const asked = { first: 0, count: 1, frames: event(0, "input", { interrupt_id: "i" }), last: null };
  await endKeptRuns(sql, [{ ...end, ...asked }], false);
  expect(await seen(run.threadId)).toEqual(["1 input", "2 lifecycle interrupted"]);

  const rolledBack = await newRun("running");
  await sql`update runs set cancel_action = 'rollback' where run_id = ${rolledBack.runId}`;
  const none = { ...end, ...rolledBack, first: 0, count: 0, frames: "", last: null };
  expect(await endKeptRuns(sql, [none], false)).toMatchObject([{ outcome: "deleted", seq: 1 }]);
  const pending = await newRun("pending", rolledBack.threadId);
  await cancelRunRow(sql, { ...pending, action: "rollback", reason: null });
  expect(await seen(rolledBack.threadId)).toEqual(["1 lifecycle interrupted", "2 lifecycle interrupted"]);
});
