/** The decisions of the queue, as Postgres takes them: functions/runs.sql through runs/sql.ts. */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import type { Sql } from "../../base/db/connect.ts";
import {
  cancelRunRow,
  claimRuns,
  createRuns,
  deleteFinishedRun,
  finishRuns,
  type NewRun,
  releaseRun,
  selectRunState,
} from "./sql.ts";

let sql: Sql;
const assistantId = randomUUID();
const me = randomUUID();
const threadOf = new Map<string, string>();

beforeAll(async () => {
  sql = (await testDatabase()).sql;
  await sql`insert into assistants (assistant_id, graph_id, name, config, context, metadata)
    values (${assistantId}, 'echo', 'echo', '{"configurable": {"model": "a", "level": 1}, "recursion_limit": 7}',
            '{"tone": "dry"}', '{"from_assistant": true, "shared": "assistant"}')`;
  await sql`insert into servers (server_id, host_name, process) values (${me}, 'here', 'null')`;
});

async function newThread(metadata: object = {}, config: object = {}): Promise<string> {
  const id = randomUUID();
  await sql`insert into threads (thread_id, metadata, config) values (${id}, ${sql.json(metadata as never)}, ${sql.json(config as never)})`;
  return id;
}

async function create(threadId: string, options: Partial<NewRun> = {}) {
  const run: NewRun = {
    runId: randomUUID(),
    threadId,
    assistantId,
    kwargs: "{}",
    metadata: "{}",
    strategy: "enqueue",
    createThread: false,
    afterSeconds: 0,
    temporary: false,
    describe: true,
    serverId: me,
    claim: false,
    ...options,
  };
  threadOf.set(run.runId, threadId);
  const [created] = await createRuns(sql, [run]);
  return { ...created!, runId: run.runId, threadId };
}

const finish = async (
  runId: string,
  attempt = 1,
  outcome: "success" | "error" | "cancelled" = "success",
  state: object | null = null,
) =>
  (
    await finishRuns(
      sql,
      [
        {
          runId,
          threadId: threadOf.get(runId) ?? randomUUID(),
          attempt,
          outcome,
          error: outcome === "error" ? '{"error":"E","message":"m"}' : null,
          state: state && JSON.stringify(state),
        },
      ],
      false,
    )
  )[0]!;

const thread = async (id: string) =>
  (
    await sql<{ status: string; values: unknown; interrupts: unknown; running_run_id: string | null }[]>`
    select status, values, interrupts, running_run_id from threads where thread_id = ${id}`
  )[0];

const status = async (runId: string) => (await selectRunState(sql, null, runId))?.status;

/** Writes what a run of one step leaves behind. */
async function checkpoint(threadId: string, runId: string, id: string, version: string): Promise<void> {
  await sql`insert into checkpoints (thread_id, checkpoint_id, checkpoint, metadata)
    values (${threadId}, ${id}, ${sql.json({ channel_versions: { text: version } })}, ${sql.json({ run_id: runId })})`;
  await sql`insert into checkpoint_blobs (thread_id, channel, version, type, blob)
    values (${threadId}, 'text', ${version}, 'json', '\\x31') on conflict do nothing`;
  await sql`insert into checkpoint_writes (thread_id, checkpoint_id, task_id, idx, channel, type, blob)
    values (${threadId}, ${id}, 't', 0, 'text', 'json', '\\x31')`;
}

const countOf = async (table: "checkpoints" | "checkpoint_blobs" | "checkpoint_writes", threadId: string) =>
  Number((await sql`select count(*) from ${sql(table)} where thread_id = ${threadId}`)[0]!["count"]);

describe("accepting", () => {
  test("configuration merges assistant, thread and run, and only lasting keys stick to the thread", async () => {
    const t = await newThread({ from_thread: true }, { configurable: { level: 2, user: "u" } });
    const run = await create(t, {
      claim: true,
      kwargs: JSON.stringify({
        config: { configurable: { level: 3, checkpoint_id: "c" }, tags: ["x"] },
        context: { who: "me" },
      }),
      metadata: '{"shared":"run"}',
    });
    const kwargs = JSON.parse(run.kwargs) as {
      config: { configurable: object; metadata: object; recursion_limit: number };
      context: object;
    };
    expect(kwargs.config.configurable).toEqual({
      model: "a",
      level: 3,
      user: "u",
      checkpoint_id: "c",
      run_id: run.runId,
      thread_id: t,
      graph_id: "echo",
      assistant_id: assistantId,
    });
    expect(kwargs.config.recursion_limit).toBe(7);
    expect(kwargs.config.metadata).toEqual({ from_assistant: true, from_thread: true, shared: "run" });
    expect(kwargs.context).toEqual({ tone: "dry", who: "me" });
    const [row] = await sql`select config, metadata, status from threads where thread_id = ${t}`;
    expect(row!["config"]["configurable"]).toEqual({ model: "a", level: 3, user: "u" });
    expect(row!["metadata"]).toEqual({ from_thread: true, graph_id: "echo", assistant_id: assistantId });
    expect(row!["status"]).toBe("busy");
  });

  test("the same run sent twice is accepted once", async () => {
    const t = await newThread();
    const runId = randomUUID();
    expect((await create(t, { runId })).outcome).toBe("created");
    const again = await create(t, { runId });
    expect(again.outcome).toBe("exists");
    expect(JSON.parse(again.run)).toMatchObject({ run_id: runId, status: "pending" });
    expect((await sql`select 1 from runs where thread_id = ${t}`).length).toBe(1);
  });

  test("an unknown assistant, an unknown thread and a busy thread are told apart, and nothing is inserted", async () => {
    const t = await newThread();
    expect((await create(t, { assistantId: randomUUID() })).outcome).toBe("no_assistant");
    expect((await create(randomUUID())).outcome).toBe("no_thread");
    await create(t);
    expect((await create(t, { strategy: "reject" })).outcome).toBe("busy");
    expect((await sql`select 1 from runs where thread_id = ${t}`).length).toBe(1);
  });

  test("several at once, among them two on one thread: one starts, the other waits", async () => {
    const t = await newThread();
    const base = {
      threadId: t,
      assistantId,
      kwargs: "{}",
      metadata: "{}",
      strategy: "enqueue",
      createThread: false,
      afterSeconds: 0,
      temporary: false,
      describe: false,
      serverId: me,
      claim: true,
    } as const;
    const created = await createRuns(sql, [
      { ...base, runId: randomUUID() },
      { ...base, runId: randomUUID() },
      { ...base, runId: randomUUID(), threadId: randomUUID(), createThread: true },
    ]);
    expect(created.map((one) => one.claimed)).toEqual([true, false, true]);
  });
});

describe("claiming", () => {
  test("one run a thread, in creation order, never two claimers for one", async () => {
    const threads = await Promise.all(Array.from({ length: 20 }, () => newThread()));
    const order = new Map<string, string[]>();
    for (let i = 0; i < 3; i++)
      for (const t of threads) order.set(t, [...(order.get(t) ?? []), (await create(t)).runId]);
    const mine = new Set([...order.values()].flat());
    const done = new Map<string, string[]>();
    for (let round = 0; round < 3; round++) {
      const claims = (await Promise.all(Array.from({ length: 8 }, () => claimRuns(sql, me, 20))))
        .flat()
        .filter((c) => mine.has(c.run_id));
      expect(new Set(claims.map((c) => c.thread_id)).size).toBe(claims.length);
      let more = claims;
      while (more.length > 0) {
        for (const c of more) {
          done.set(c.thread_id, [...(done.get(c.thread_id) ?? []), c.run_id]);
          await finish(c.run_id, c.attempt);
        }
        more = (await claimRuns(sql, me, 20)).filter((c) => mine.has(c.run_id));
      }
    }
    expect(done).toEqual(order);
  });

  test("a delayed run is not claimed early and holds up nobody", async () => {
    const t = await newThread();
    const late = await create(t, { afterSeconds: 0.4 });
    const soon = await create(t);
    const first = (await claimRuns(sql, me, 100)).map((c) => c.run_id);
    expect(first).toContain(soon.runId);
    expect(first).not.toContain(late.runId);
    await finish(soon.runId);
    await new Promise((resolve) => setTimeout(resolve, 450));
    expect((await claimRuns(sql, me, 100)).map((c) => c.run_id)).toContain(late.runId);
  });

  test("threads that nothing waits for are not looked at, whatever the planner knows of the tables", async () => {
    const fresh = (await testDatabase()).sql;
    await fresh`insert into threads (thread_id) select gen_random_uuid() from generate_series(1, 300)`;
    await fresh`insert into runs (run_id, thread_id, assistant_id, status)
      select gen_random_uuid(), thread_id, ${assistantId}, 'success' from threads, generate_series(1, 10)`;
    const read = await fresh.begin(async (tx) => {
      const reads = async (): Promise<number> => {
        const [row] = await tx<{ n: number }[]>`
          select (seq_tup_read + idx_tup_fetch)::int as n from pg_stat_xact_user_tables where relname = 'threads'`;
        return row!.n;
      };
      const before = await reads();
      await claimRuns(tx as unknown as Sql, me, 32);
      return (await reads()) - before;
    });
    expect(read).toBe(0);
  });

  test("a run that another server has accepted and not begun is taken by whoever has a slot", async () => {
    const other = randomUUID();
    await sql`insert into servers (server_id, host_name, process) values (${other}, 'elsewhere', '')`;
    const run = await create(await newThread(), { serverId: other });
    expect((await claimRuns(sql, me, 100)).map((c) => c.run_id)).toContain(run.runId);
    await sql`delete from servers where server_id = ${other}`;
  });
});

describe("ending", () => {
  test("an end writes run and thread together; a second one, or one of an older attempt, is lost", async () => {
    const t = await newThread();
    const run = await create(t, { claim: true });
    expect((await finish(run.runId, 0)).outcome).toBe("lost");
    const state = { values: { text: "x" }, next: ["ask"], interrupts: { task: [{ id: "i", value: 1 }] } };
    expect(await finish(run.runId, 1, "success", state)).toEqual({ outcome: "success", waiting: false });
    expect(await thread(t)).toEqual({
      status: "interrupted",
      values: state.values,
      interrupts: state.interrupts,
      running_run_id: null,
    });
    expect((await finish(run.runId, 1, "error")).outcome).toBe("lost");
    expect(await status(run.runId)).toBe("success");
  });

  test("a thread with more to do stays busy, and goes to error when its last run failed", async () => {
    const t = await newThread();
    const first = await create(t, { claim: true });
    const second = await create(t);
    expect((await finish(first.runId)).waiting).toBe(true);
    expect((await thread(t))!.status).toBe("busy");
    await claimRuns(sql, me, 100);
    await finish(second.runId, 1, "error");
    expect((await thread(t))!.status).toBe("error");
  });

  test("a released run goes back to the queue without losing its place; its old attempt can write nothing", async () => {
    const t = await newThread();
    const run = await create(t, { claim: true });
    const behind = await create(t);
    const released = await releaseRun(sql, {
      runId: run.runId,
      attempt: 1,
      blame: true,
      maxFailures: 3,
      reason: "r",
      notify: false,
    });
    expect(released.outcome).toBe("pending");
    expect((await finish(run.runId, 1)).outcome).toBe("lost");
    const claimed = (await claimRuns(sql, me, 100)).filter((c) => c.thread_id === t);
    expect(claimed).toMatchObject([{ run_id: run.runId, attempt: 2, failures: 1 }]);
    expect(await status(behind.runId)).toBe("pending");
  });

  test("blame ends a run as error at the limit, a hand-back never does", async () => {
    const run = await create(await newThread(), { claim: true });
    let attempt = 1;
    const release = async (blame: boolean) => {
      const { outcome } = await releaseRun(sql, {
        runId: run.runId,
        attempt,
        blame,
        maxFailures: 2,
        reason: "the host exited",
        notify: false,
      });
      await sql`update runs set available_at = now() where run_id = ${run.runId}`;
      await claimRuns(sql, me, 100);
      attempt += 1;
      return outcome;
    };
    for (let i = 0; i < 5; i++) expect(await release(false)).toBe("pending");
    expect(await release(true)).toBe("pending");
    expect(await release(true)).toBe("error");
    const state = await selectRunState(sql, null, run.runId);
    expect(JSON.parse(state!.error!)).toEqual({ error: "RunFailed", message: "the host exited" });
  });

  test("a run that gets further between its failures is tried again, one that does not is given up", async () => {
    const t = await newThread();
    const run = await create(t, { claim: true });
    let attempt = 1;
    const fail = async () => {
      const blame = { runId: run.runId, attempt, blame: true, maxFailures: 2, reason: "r", notify: false };
      const { outcome } = await releaseRun(sql, blame);
      await sql`update runs set available_at = now() where run_id = ${run.runId}`;
      await claimRuns(sql, me, 100);
      attempt += 1;
      return outcome;
    };
    for (const id of ["c1", "c2", "c3", "c4"]) {
      await checkpoint(t, run.runId, id, id);
      expect(await fail()).toBe("pending");
    }
    expect(await fail()).toBe("error");
  });

  test("a stateless run leaves nothing behind", async () => {
    const threadId = randomUUID();
    const run = await create(threadId, { claim: true, createThread: true, temporary: true });
    await checkpoint(threadId, run.runId, "c1", "1");
    expect((await finish(run.runId)).outcome).toBe("success");
    expect(await thread(threadId)).toBeUndefined();
    expect(await status(run.runId)).toBeUndefined();
    expect(await countOf("checkpoints", threadId)).toBe(0);
    expect(await countOf("checkpoint_blobs", threadId)).toBe(0);
  });
});

describe("cancelling", () => {
  test("interrupt of a pending run keeps it, rollback deletes it; both free the thread", async () => {
    const t = await newThread();
    const kept = await create(t);
    const gone = await create(t);
    const cancel = (runId: string, action: "interrupt" | "rollback") =>
      cancelRunRow(sql, { runId, threadId: t, action, reason: null });
    expect((await cancel(kept.runId, "interrupt")).outcome).toBe("cancelled");
    expect(await thread(t)).toMatchObject({ status: "busy" });
    expect((await cancel(gone.runId, "rollback")).outcome).toBe("cancelled");
    expect(await status(kept.runId)).toBe("interrupted");
    expect(await status(gone.runId)).toBeUndefined();
    expect(await thread(t)).toMatchObject({ status: "idle" });
    expect((await cancel(kept.runId, "interrupt")).outcome).toBe("finished");
    expect((await cancel(gone.runId, "interrupt")).outcome).toBe("not_found");
  });

  test("rollback of a running run deletes its checkpoints alone, even when the run had just succeeded", async () => {
    const t = await newThread();
    const before = await create(t, { claim: true });
    await checkpoint(t, before.runId, "c1", "1");
    await finish(before.runId, 1, "success", { values: { text: "before" }, next: [], interrupts: {} });
    const run = await create(t, { claim: true });
    await checkpoint(t, run.runId, "c2", "2");
    const next = await create(t, { strategy: "rollback", claim: true });
    expect(next.cancelled).toEqual([run.runId]);
    expect(next.claimed).toBe(false);
    expect(
      (await finish(run.runId, 1, "success", { values: { text: "rolled back" }, next: [], interrupts: {} })).outcome,
    ).toBe("deleted");
    expect(await status(run.runId)).toBeUndefined();
    expect((await thread(t))!.values).toEqual({ text: "before" });
    expect(await countOf("checkpoints", t)).toBe(1);
    expect(await countOf("checkpoint_blobs", t)).toBe(1);
    expect(await countOf("checkpoint_writes", t)).toBe(1);
    expect((await claimRuns(sql, me, 100)).map((c) => c.run_id)).toContain(next.runId);
  });

  test("interrupt strategy keeps the stopped runs and lets the new one follow", async () => {
    const t = await newThread();
    const running = await create(t, { claim: true });
    const pending = await create(t);
    const next = await create(t, { strategy: "interrupt" });
    expect(new Set(next.cancelled)).toEqual(new Set([running.runId, pending.runId]));
    expect(await status(pending.runId)).toBe("interrupted");
    expect((await finish(running.runId, 1, "cancelled")).outcome).toBe("interrupted");
    expect((await claimRuns(sql, me, 100)).map((c) => c.run_id)).toContain(next.runId);
  });

  test("a cancelled run whose host died ends as asked instead of being tried again", async () => {
    const t = await newThread();
    const run = await create(t, { claim: true });
    await cancelRunRow(sql, { runId: run.runId, threadId: t, action: "interrupt", reason: "enough" });
    const released = await releaseRun(sql, {
      runId: run.runId,
      attempt: 1,
      blame: true,
      maxFailures: 3,
      reason: "r",
      notify: false,
    });
    expect(released.outcome).toBe("interrupted");
  });

  test("only a finished run can be deleted, with its checkpoints", async () => {
    const t = await newThread();
    const run = await create(t, { claim: true });
    await checkpoint(t, run.runId, "c1", "1");
    expect(await deleteFinishedRun(sql, t, run.runId)).toBe("unfinished");
    await finish(run.runId);
    expect(await deleteFinishedRun(sql, t, run.runId)).toBe("deleted");
    expect(await deleteFinishedRun(sql, t, run.runId)).toBe("not_found");
    expect(await countOf("checkpoints", t)).toBe(0);
    expect(await countOf("checkpoint_writes", t)).toBe(0);
  });
});

test("a thread that somebody holds keeps only its own run waiting", async () => {
  const held = await newThread();
  const free = await newThread();
  const base = {
    assistantId,
    kwargs: "{}",
    metadata: "{}",
    strategy: "enqueue",
    createThread: false,
    afterSeconds: 0,
    temporary: false,
    describe: true,
    serverId: me,
    claim: true,
  } as const;
  await sql.begin(async (tx) => {
    await tx`select 1 from threads where thread_id = ${held} for update`;
    const both = [held, free].map((threadId) => ({ ...base, threadId, runId: randomUUID() }));
    const outcomes = (await createRuns(sql, both, false)).map((one) => one.outcome);
    expect(outcomes).toEqual(["locked", "created"]);
  });
  expect((await create(held, { claim: true })).claimed).toBe(true);
});

test("a run that starts at once is told the thread's newest checkpoint, if nothing was written beside it", async () => {
  const threadId = await newThread();
  const headOf = async (claim: boolean) => (await create(threadId, { claim })).head;
  expect(await headOf(false)).toBeNull();
  await sql`update runs set status = 'success' where thread_id = ${threadId}`;
  for (const id of ["1a", "1b"]) {
    await sql`insert into checkpoints (thread_id, checkpoint_ns, checkpoint_id, checkpoint, metadata)
      values (${threadId}, '', ${id}, '{}', '{}'), (${threadId}, 'sub', ${"2" + id}, '{}', '{}')`;
  }
  const next = async () => {
    await sql`update runs set status = 'success' where thread_id = ${threadId}`;
    await sql`update threads set running_run_id = null where thread_id = ${threadId}`;
    return headOf(true);
  };
  expect(await next()).toBe("1b");
  await sql`insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
    values (${threadId}, '', '1b', ${randomUUID()}, 0, 'c', 'json', '1')`;
  expect(await next()).toBeNull();
});
