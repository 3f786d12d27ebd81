/** Resumes and the interrupts that they answer, on a real server with a real host. */
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, describe, expect, test, vi } from "vitest";

import { createAgentApp } from "../../agent-app.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { openGuard } from "../../../test/principal.ts";
import { type Question, questionServer, UNKNOWN } from "../../../test/questions.ts";
import { type CreatedRun, createRuns, type NewRun } from "./sql.ts";

const { server, post, get, startInterrupted, start, resume, ended, pending, running } = await questionServer();
const dir = mkdtempSync(join(tmpdir(), "heddle-resume-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const sent = (file: string): number => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").length : 0);
describe("a queued resume", () => {
  test("does not act on an approval that an earlier resume has used", async () => {
    const file = join(dir, "twice-approved");
    const threadId = await startInterrupted("approval", { file, ms: 300 });
    const answers = await Promise.all([resume(threadId, "approval", "yes"), resume(threadId, "approval", "yes")]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const [, ...runs] = await ended(threadId);
    expect(runs).toMatchObject([{ status: "success" }, UNKNOWN]);
    expect(runs[1]!.error!.message).toMatch(/not pending/);
    expect(sent(file)).toBe(1);
    // the rejected run has changed nothing
    expect(await get(`/threads/${threadId}`)).toMatchObject({
      status: "idle",
      error: null,
      values: { log: ["answer yes", "sent"] },
    });
  });

  test.each(["twice", "deep"])("does not answer the next question of the same task (%s)", async (graph) => {
    const threadId = await startInterrupted(graph, { ms: 300 });
    await resume(threadId, graph, "one");
    await resume(threadId, graph, "again one");
    const [, ...runs] = await ended(threadId);
    expect(runs).toMatchObject([{ status: "success" }, UNKNOWN]);
    expect(await pending(threadId)).toMatchObject([{ value: "second" }]);
    expect((await get(`/threads/${threadId}`)).status).toBe("interrupted");
    await resume(threadId, graph, "two");
    await ended(threadId);
    expect((await get(`/threads/${threadId}`)).values.log).toEqual(["one, two"]);
  });

  test("by id does not answer the next question of the same task", async () => {
    const threadId = await startInterrupted("twice", { ms: 300 });
    const [{ id }] = (await pending(threadId)) as [Question];
    await resume(threadId, "twice", { [id]: "one" });
    await resume(threadId, "twice", { [id]: "again one" });
    expect((await ended(threadId)).slice(1)).toMatchObject([{ status: "success" }, UNKNOWN]);
    expect(await pending(threadId)).toMatchObject([{ value: "second" }]);
  });

  test("by id answers the named one of two questions", async () => {
    const threadId = await startInterrupted("parallel", { ms: 300 });
    for (const { id, value } of await pending(threadId)) await resume(threadId, "parallel", { [id]: `to ${value}` });
    expect((await ended(threadId)).map(({ status }) => status)).toEqual(["success", "success", "success"]);
    const { values, status } = await get(`/threads/${threadId}`);
    expect([status, values.log]).toEqual(["idle", ["left to left?", "right to right?", "joined"]]);
  });

  test("sent ahead of the question answers the question of the preceding run", async () => {
    const { thread_id: threadId } = (await post("/threads", {})).json;
    await start(threadId, "twice", { input: { ms: 0 } });
    await resume(threadId, "twice", "early");
    expect((await ended(threadId)).map(({ status }) => status)).toEqual(["success", "success"]);
    expect(await pending(threadId)).toMatchObject([{ value: "second" }]);
  });

  test("does not answer a question that new input has raised", async () => {
    const threadId = await startInterrupted("late", {});
    await start(threadId, "late", { input: { ms: 500 } });
    // before and after the new input is committed
    for (const pause of [0, 250]) {
      await sleep(pause);
      await resume(threadId, "late", "yes");
    }
    expect((await ended(threadId)).slice(1)).toMatchObject([{ status: "success" }, UNKNOWN, UNKNOWN]);
    expect(await pending(threadId)).toMatchObject([{ value: "ready?" }]);
    expect((await get(`/threads/${threadId}`)).status).toBe("interrupted");
  });

  test("replaces a resume that its strategy stops", async () => {
    const threadId = await startInterrupted("twice", { ms: 1500 });
    await resume(threadId, "twice", "one");
    await running(threadId);
    await resume(threadId, "twice", "instead", { multitask_strategy: "interrupt" });
    await running(threadId, "interrupted");
    await resume(threadId, "twice", "third", { multitask_strategy: "rollback" });
    expect((await resume(threadId, "twice", "no", { multitask_strategy: "reject" })).status).toBe(422);
    const runs = await ended(threadId);
    expect(runs.map(({ status }) => status)).toEqual(["success", "interrupted", "success"]);
    await start(threadId, "twice", { command: { resume: "two" } });
    await ended(threadId);
    expect((await get(`/threads/${threadId}`)).values.log).toEqual(["third, two"]);
  }, 30_000);
});

test("a resume sent as soon as the stream contains the question answers that question", async () => {
  const app = createAgentApp(server.agent.deps, openGuard);
  for (let round = 0; round < 5; round++) {
    const threadId = await startInterrupted("twice", {});
    const path = `/threads/${threadId}/runs`;
    const body = JSON.stringify({ assistant_id: "twice", command: { resume: "one" }, stream_mode: "updates" });
    const headers = { "Content-Type": "application/json" };
    const { body: frames } = await app.request(`${path}/stream`, { method: "POST", headers, body });
    let text = "";
    for await (const chunk of frames!) {
      text += Buffer.from(chunk).toString();
      if (text.includes('"second"')) break;
    }
    await resume(threadId, "twice", "two");
    expect((await ended(threadId)).map(({ error }) => error)).toEqual([null, null, null]);
    expect((await get(`/threads/${threadId}`)).values.log).toEqual(["one, two"]);
  }
});

test.each(["twice", "deep"])("a later attempt of a resume does not answer the next question (%s)", async (graph) => {
  const threadId = await startInterrupted(graph, {});
  const { json } = await resume(threadId, graph, "one");
  await ended(threadId);
  // as if its server had been lost before the run's end was written
  await server.sql`update runs set status = 'pending', ended_at = null where run_id = ${json.run_id}`;
  await server.sql`update threads set status = 'busy' where thread_id = ${threadId}`;
  expect((await ended(threadId))[1]).toMatchObject({ status: "success" });
  expect(await pending(threadId)).toMatchObject([{ value: "second" }]);
  await resume(threadId, graph, "two");
  await ended(threadId);
  expect((await get(`/threads/${threadId}`)).values.log).toEqual(["one, two"]);
});

describe("protocol v2", () => {
  const command = (threadId: string, method: string, params: object) =>
    post(`/threads/${threadId}/commands`, { id: 1, method, params }).then(({ json }) => json);

  test("accepts one of several concurrent answers to a question", async () => {
    const file = join(dir, "protocol");
    const threadId = await startInterrupted("approval", { file, ms: 200 });
    const [{ id }] = (await pending(threadId)) as [Question];
    const respond = () => command(threadId, "input.respond", { namespace: [], interrupt_id: id, response: "yes" });
    const answers = await Promise.all([respond(), respond(), respond()]);
    expect(answers.map(({ type }) => type).sort()).toEqual(["error", "error", "success"]);
    expect((await ended(threadId)).map(({ status }) => status)).toEqual(["success", "success"]);
    expect(sent(file)).toBe(1);
  });

  test("fails a second run.start that answers an answered question", async () => {
    const file = join(dir, "run-start");
    const threadId = await startInterrupted("approval", { file, ms: 200 });
    const begin = () => command(threadId, "run.start", { assistant_id: "approval", input: "yes" });
    const answers = await Promise.all([begin(), begin()]);
    const runs = await ended(threadId);
    // rejected with the command, or when its run starts
    const failed = answers.filter(({ type }) => type === "error").length + runs.filter(({ error }) => error).length;
    expect([failed, sent(file)]).toEqual([1, 1]);
  });
});

describe("a resume that names interrupts", () => {
  test("answers each of two questions of a subgraph", async () => {
    const threadId = await startInterrupted("deepParallel", {});
    const { text } = await post(`/threads/${threadId}/runs/stream`, {
      assistant_id: "deepParallel",
      input: null,
      stream_mode: "updates",
      stream_subgraphs: true,
    });
    const ids = [...new Set([...text.matchAll(/"id":"([0-9a-f]{32})"/g)].map(([, id]) => id!))];
    expect(ids).toHaveLength(2);
    for (const id of ids) expect((await resume(threadId, "deepParallel", { [id]: "yes" })).status).toBe(200);
    expect((await ended(threadId)).map(({ status }) => status)).toEqual(Array(4).fill("success"));
    expect((await get(`/threads/${threadId}`)).values.log).toContain("joined");
  });

  test.each([false, 0, ""])("is not needed for the answer %j", async (answer) => {
    const threadId = await startInterrupted("approval", { file: join(dir, "falsy"), ms: 0 });
    await resume(threadId, "approval", answer);
    expect((await ended(threadId)).at(-1)).toMatchObject({ status: "success" });
    expect((await get(`/threads/${threadId}`)).values.log[0]).toBe(`answer ${answer}`);
  });

  test("is rejected at a checkpoint whose question is answered", async () => {
    const file = join(dir, "branch");
    const threadId = await startInterrupted("approval", { file, ms: 400 });
    const [{ id }] = (await pending(threadId)) as [Question];
    const { checkpoint } = await get(`/threads/${threadId}/state`);
    await resume(threadId, "approval", { [id]: "yes" }, { checkpoint });
    const again = await resume(threadId, "approval", "yes", { checkpoint });
    const [, first, second] = await ended(threadId);
    expect(first).toMatchObject({ status: "success" });
    // rejected at once, or by the claim, depending on the progress of the first run
    expect([409, "UnknownInterruptError"]).toContain(again.status === 200 ? second?.error?.error : again.status);
    expect((await resume(threadId, "approval", { [id]: "yes" }, { checkpoint })).status).toBe(409);
    expect((await resume(threadId, "approval", "yes", { checkpoint })).status).toBe(409);
    expect(sent(file)).toBe(1);
  });

  test("branches from a checkpoint whose question new input has discarded", async () => {
    const threadId = await startInterrupted("approval", { file: join(dir, "discarded"), ms: 0 });
    const [{ id }] = (await pending(threadId)) as [Question];
    const { checkpoint } = await get(`/threads/${threadId}/state`);
    await start(threadId, "approval", { input: { ms: 0 } });
    await ended(threadId);
    expect((await resume(threadId, "approval", { [id]: "late" })).status).toBe(409);
    await resume(threadId, "approval", { [id]: "late" }, { checkpoint });
    expect((await ended(threadId)).at(-1)).toMatchObject({ status: "success" });
    expect((await get(`/threads/${threadId}`)).values.log).toEqual(["answer late", "sent"]);
  });

  test("is rejected when one of them is not pending", async () => {
    const threadId = await startInterrupted("parallel", {});
    const [left, right] = (await pending(threadId)) as [Question, Question];
    const other = "0".repeat(32);
    const { status, text } = await resume(threadId, "parallel", { [left.id]: "yes", [other]: "yes" });
    expect(status).toBe(409);
    expect(text).toContain(other);
    expect(text).toContain(right.id);
    expect(await get(`/threads/${threadId}/runs`)).toHaveLength(1);
    expect((await get(`/threads/${threadId}`)).status).toBe("interrupted");
  });

  test("is rejected on a thread without a question", async () => {
    const { thread_id: threadId } = (await post("/threads", {})).json;
    expect((await resume(threadId, "approval", { ["a".repeat(32)]: "yes" })).status).toBe(409);
    expect((await get(`/threads/${threadId}`)).status).toBe("idle");
  });
});

test("a resume that waits for its thread does not answer a question asked meanwhile", async () => {
  const threadId = await startInterrupted("approval", {});
  let answer: Promise<{ status: number; text: string }> | undefined;
  await server.sql.begin(async (sql) => {
    // as does a run that answers the first interrupt and raises a second
    await sql`select 1 from threads where thread_id = ${threadId} for update`;
    await sql`
      insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
      select thread_id, checkpoint_ns, checkpoint_id, task_id, -4, '__resume__', 'json', '["first"]'
      from checkpoint_writes where thread_id = ${threadId} and channel = '__interrupt__'`;
    answer = resume(threadId, "approval", "yes");
    await vi.waitUntil(async () => (await server.sql`select 1 from pg_locks where not granted`).length > 0);
  });
  const { status, text } = await answer!;
  expect(status).toBe(409);
  expect(text).toContain("not pending any more");
});

test("a resume that comes between two questions of a run does not answer the second", async () => {
  const threadId = await startInterrupted("approval", {});
  const [{ run_id: runId }] = (await get(`/threads/${threadId}/runs`)) as [{ run_id: string }];
  const { sql } = server;
  // a run that has answered the first interrupt and not yet raised the second
  await sql`update runs set status = 'running', ended_at = null where run_id = ${runId}`;
  const written = await sql`
    delete from checkpoint_writes where thread_id = ${threadId} and channel = '__interrupt__' returning *`;
  let answer: Promise<{ status: number; text: string }> | undefined;
  await sql.begin(async (tx) => {
    await tx`select 1 from threads where thread_id = ${threadId} for update`;
    answer = resume(threadId, "approval", "yes");
    await vi.waitUntil(async () => (await sql`select 1 from pg_locks where not granted`).length > 0);
    await tx`insert into checkpoint_writes ${tx(written)}`;
    await tx`update runs set status = 'success', ended_at = now() where run_id = ${runId}`;
  });
  const { status, text } = await answer!;
  expect(status).toBe(409);
  expect(text).toContain("not pending any more");
});

describe("a resume whose thread asks the next question while the request is in the database", () => {
  const { sql } = server;
  const newRun = async (threadId: string, kwargs: object): Promise<NewRun> => {
    const [assistant] = await sql`select assistant_id from assistants where graph_id = 'approval'`;
    const body = { kwargs: JSON.stringify(kwargs), metadata: "{}", strategy: "enqueue" as const };
    const where = { threadId, assistantId: assistant!["assistant_id"] as string, serverId: randomUUID() };
    const flags = { createThread: false, afterSeconds: 0, temporary: false, describe: false, claim: false };
    return { runId: randomUUID(), ...where, ...body, ...flags };
  };
  const answerFirst = (tx: Sql | Transaction, threadId: string) => tx`
    insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
    select thread_id, checkpoint_ns, checkpoint_id, task_id, -4, '__resume__', 'json', '["first"]'
    from checkpoint_writes where thread_id = ${threadId} and channel = '__interrupt__'`;

  test("is rejected when the statement that accepts it waited for another thread first", async () => {
    const [locked, threadId] = [await startInterrupted("approval", {}), await startInterrupted("approval", {})];
    const batch = [await newRun(locked, { input: {} }), await newRun(threadId, { command: { resume: "yes" } })];
    let created: Promise<CreatedRun[]> | undefined;
    await sql.begin(async (tx) => {
      await tx`select 1 from threads where thread_id = ${locked} for update`;
      created = createRuns(sql, batch);
      await vi.waitUntil(async () => (await sql`select 1 from pg_locks where not granted`).length > 0);
      await answerFirst(sql, threadId);
    });
    expect((await created!).map(({ outcome }) => outcome)).toEqual(["created", "unknown_interrupt"]);
  });

  test("is rejected when its thread was locked and it is sent again", async () => {
    const threadId = await startInterrupted("approval", {});
    const row = await newRun(threadId, { command: { resume: "yes" } });
    const first = await sql.begin(async (tx) => {
      await tx`select 1 from threads where thread_id = ${threadId} for update`;
      const [created] = await createRuns(sql, [row], false);
      await answerFirst(tx, threadId);
      return created!;
    });
    expect(first.outcome).toBe("locked");
    const [again] = await createRuns(sql, [{ ...row, asked: first.run }]);
    expect(again!.outcome).toBe("unknown_interrupt");
  });
});

describe("strict_resume", () => {
  const strict = { strict_resume: true };

  test("rejects a value for several questions, a value for none, and an empty map", async () => {
    const threadId = await startInterrupted("parallel", {});
    const several = await resume(threadId, "parallel", "yes", strict);
    expect([several.status, several.text]).toEqual([409, expect.stringContaining("Name the interrupts")]);
    expect((await resume(threadId, "parallel", {}, strict)).status).toBe(422);
    const { thread_id: idle } = (await post("/threads", {})).json;
    expect((await resume(idle, "parallel", "yes", strict)).status).toBe(409);
    expect((await start(idle, "parallel", { input: { ms: 0 }, ...strict })).status).toBe(200);
  });

  test("accepts a value for the only question, and names", async () => {
    const threadId = await startInterrupted("approval", { file: join(dir, "strict"), ms: 0 });
    await resume(threadId, "approval", "yes", strict);
    expect((await ended(threadId)).at(-1)).toMatchObject({ status: "success" });
    const two = await startInterrupted("parallel", {});
    const names = Object.fromEntries((await pending(two)).map(({ id }) => [id, "yes"]));
    await resume(two, "parallel", names, strict);
    expect((await ended(two)).at(-1)).toMatchObject({ status: "success" });
    expect((await get(`/threads/${two}`)).values.log).toContain("joined");
  });

  test("is checked again when a queued run begins", async () => {
    const { thread_id: threadId } = (await post("/threads", {})).json;
    await start(threadId, "parallel", { input: { ms: 0 } });
    const { status } = await resume(threadId, "parallel", "early", strict);
    // rejected at once, if the first run has ended by then
    const outcome = status === 409 ? UNKNOWN : (await ended(threadId))[1];
    expect(outcome).toMatchObject(UNKNOWN);
    expect(await pending(threadId)).toHaveLength(2);
  });
});

test.each(["twice", "deep"])(
  "a run that continues does not answer a question with an earlier answer (%s)",
  async (graph) => {
    const threadId = await startInterrupted(graph, {});
    await resume(threadId, graph, "one");
    await ended(threadId);
    await start(threadId, graph, { input: null });
    await ended(threadId);
    expect(await pending(threadId)).toMatchObject([{ value: "second" }]);
  },
);
