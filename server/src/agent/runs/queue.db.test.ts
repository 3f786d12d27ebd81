/** Acceptance and claims of runs as decided by Postgres: functions/runs.sql through runs/sql.ts. */
import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";

import { describe, expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { connect, type Sql } from "../../base/db/connect.ts";
import { queueRows } from "../../../test/queue-rows.ts";
import { claimRuns, createRuns, releaseRun } from "./sql.ts";

const { sql, uri, assistantId, me, newThread, newRun, create, finish } = await queueRows();

describe("accepting", () => {
  test("configuration merges assistant, thread and run, and the thread keeps only persistent keys", async () => {
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

  test("accepts a run sent twice once", async () => {
    const t = await newThread();
    const runId = randomUUID();
    expect((await create(t, { runId })).outcome).toBe("created");
    const again = await create(t, { runId });
    expect(again.outcome).toBe("exists");
    expect(JSON.parse(again.run!)).toMatchObject({ run_id: runId, status: "pending" });
    expect((await sql`select 1 from runs where thread_id = ${t}`).length).toBe(1);
  });

  test("is dated when it reads the thread, not when a connection first prepares its statement", async () => {
    const row = newRun(await newThread(), { claim: true });
    const fresh = connect({ uri, socket: null }, { max: 1 });
    try {
      await fresh`select 1`;
      const creating = createRuns(fresh, [row]);
      creating.catch(() => {});
      // its preparation has been sent; the statement follows when the answer has been read, after the block
      for (let n = 0; n < 2; n++) await nextTurn();
      const until = performance.now() + 300;
      while (performance.now() < until);
      const sentAt = Date.now();
      expect((await creating)[0]!.outcome).toBe("created");
      const [run] = await sql<{ at: number; span: number }[]>`
        select extract(epoch from created_at) * 1000 as at, extract(epoch from greatest(updated_at, started_at) - created_at) as span
        from runs where run_id = ${row.runId}`;
      expect(Number(run!.at)).toBeGreaterThan(sentAt - 100);
      expect(Number(run!.span)).toBe(0);
    } finally {
      await fresh.end();
    }
  });

  test("distinguishes an unknown assistant, an unknown thread and a busy thread, and inserts nothing", async () => {
    const t = await newThread();
    expect((await create(t, { assistantId: randomUUID() })).outcome).toBe("no_assistant");
    expect((await create(randomUUID())).outcome).toBe("no_thread");
    await create(t);
    expect((await create(t, { strategy: "reject" })).outcome).toBe("busy");
    expect((await sql`select 1 from runs where thread_id = ${t}`).length).toBe(1);
  });

  test("a node that calls its own server on its own thread gets a conflict instead of waiting for itself", async () => {
    const t = await newThread();
    const { runId } = await create(t, { claim: true });
    const from = (metadata: object) => JSON.stringify({ config: { metadata } });
    const node = { run_id: runId, langgraph_node: "remote" };
    const rejected = await create(t, { strategy: "enqueue", kwargs: from(node) });
    expect([rejected.outcome, rejected.run]).toEqual(["waits_for_itself", runId]);
    // a client that passes on what it has read, and a node of another run
    for (const metadata of [{ run_id: runId }, { ...node, run_id: randomUUID() }])
      expect((await create(t, { strategy: "enqueue", kwargs: from(metadata) })).outcome).toBe("created");
    expect((await create(await newThread(), { strategy: "enqueue", kwargs: from(node) })).outcome).toBe("created");
  });

  test("of several runs created at once, two on one thread, one of the two starts and the other waits", async () => {
    const t = await newThread();
    const created = await createRuns(sql, [
      newRun(t, { describe: false, claim: true }),
      newRun(t, { describe: false, claim: true }),
      newRun(randomUUID(), { describe: false, claim: true, createThread: true }),
    ]);
    expect(created.map((run) => run.claimed)).toEqual([true, false, true]);
  });

  test("a run that starts at once is accepted with the first frame of its stream, in one commit", async () => {
    const t = await newThread();
    const frame = 'event: metadata\ndata: {"attempt":1}\nid: 0\n\n';
    const started = newRun(t, { describe: false, claim: true, firstFrame: frame });
    const queued = newRun(t, { describe: false, claim: true, firstFrame: frame });
    const plain = newRun(randomUUID(), { describe: false, claim: true, createThread: true });
    const created = await createRuns(sql, [started, queued, plain]);
    expect(created.map((run) => run.metadataStored)).toEqual([true, false, false]);
    const segments = await sql`
      select s.run_id, s.first, s.frames, s.xmin = r.xmin as together, k.frames as stored, k.attempt, k.status
      from runs r join run_stream_segments s on s.run_id = r.run_id join run_streams k on k.run_id = r.run_id
      where r.run_id in (${started.runId}, ${queued.runId}, ${plain.runId})`;
    expect(segments).toEqual([
      { run_id: started.runId, first: 0, frames: frame, together: true, stored: 1, attempt: 1, status: null },
    ]);
  });
});

describe("claiming", () => {
  test("claims one run per thread, in creation order, and each run once", async () => {
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

  test("a delayed run is not claimed early and does not delay others", async () => {
    const t = await newThread();
    const late = await create(t, { afterSeconds: 2 });
    const soon = await create(t);
    const first = (await claimRuns(sql, me, 100)).map((c) => c.run_id);
    expect(first).toContain(soon.runId);
    expect(first).not.toContain(late.runId);
    await finish(soon.runId);
    await new Promise((resolve) => setTimeout(resolve, 2050));
    expect((await claimRuns(sql, me, 100)).map((c) => c.run_id)).toContain(late.runId);
  });

  test("a run that waits for its retry is not overtaken, and the younger one is claimed after it", async () => {
    const t = await newThread();
    const [first, second] = [await create(t, { claim: true }), await create(t)];
    const blamed = { runId: first.runId, blame: true, maxFailures: 5, reason: "r", notify: false };
    expect((await releaseRun(sql, { ...blamed, attempt: 1 })).outcome).toBe("pending");
    expect((await claimRuns(sql, me, 100)).map((c) => c.run_id)).toContain(first.runId);
    expect((await releaseRun(sql, { ...blamed, attempt: 2 })).outcome).toBe("pending");
    expect((await claimRuns(sql, me, 100)).filter((c) => c.thread_id === t)).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 550));
    const claimed = (await claimRuns(sql, me, 100)).filter((c) => c.thread_id === t);
    expect(claimed.map((c) => [c.run_id, c.attempt])).toEqual([[first.runId, 3]]);
    await finish(first.runId, 3);
    expect((await claimRuns(sql, me, 100)).map((c) => c.run_id)).toContain(second.runId);
  });

  test("a database clock that was set back delays neither a run without a delay nor a retry", async () => {
    const fresh = await create(await newThread());
    const retried = await create(await newThread(), { claim: true });
    await releaseRun(sql, {
      runId: retried.runId,
      attempt: 1,
      blame: true,
      maxFailures: 3,
      reason: "r",
      notify: false,
    });
    await sql`update runs set created_at = created_at + interval '1 hour', available_at = available_at + interval '1 hour'
      where run_id in (${fresh.runId}, ${retried.runId})`;
    await sql`update runs set available_at = created_at + interval '1 s' where run_id = ${retried.runId}`;
    const claimed = (await claimRuns(sql, me, 100)).map((c) => c.run_id);
    expect(claimed).toContain(fresh.runId);
    expect(claimed).toContain(retried.runId);
  });

  test("a server without a lease claims nothing", async () => {
    const lost = randomUUID();
    const t = await newThread();
    expect((await create(t, { claim: true, serverId: lost })).claimed).toBe(false);
    expect(await claimRuns(sql, lost, 100)).toEqual([]);
    expect((await claimRuns(sql, me, 100)).map((c) => c.thread_id)).toContain(t);
  });

  test("does not scan threads without pending runs, whatever statistics the planner has", async () => {
    const fresh = (await testDatabase()).sql;
    await fresh`insert into servers (server_id, host_name, process) values (${me}, 'here', 'null')`;
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

  test("claims a run that another server accepted but did not begin", async () => {
    const other = randomUUID();
    await sql`insert into servers (server_id, host_name, process) values (${other}, 'elsewhere', '')`;
    const run = await create(await newThread(), { serverId: other });
    expect((await claimRuns(sql, me, 100)).map((c) => c.run_id)).toContain(run.runId);
    await sql`delete from servers where server_id = ${other}`;
  });
});

test("a locked thread delays only its own run", async () => {
  const locked = await newThread();
  const free = await newThread();
  await sql.begin(async (tx) => {
    await tx`select 1 from threads where thread_id = ${locked} for update`;
    const both = [locked, free].map((threadId) => newRun(threadId, { claim: true }));
    const outcomes = (await createRuns(sql, both, false)).map((item) => item.outcome);
    expect(outcomes).toEqual(["locked", "created"]);
  });
  expect((await create(locked, { claim: true })).claimed).toBe(true);
});

test("a run that starts at once gets the thread's newest checkpoint, if nothing else was written", async () => {
  const threadId = await newThread();
  const createdHead = async (claim: boolean) => (await create(threadId, { claim })).head;
  expect(await createdHead(false)).toBeNull();
  await sql`update runs set status = 'success' where thread_id = ${threadId}`;
  for (const id of ["1a", "1b"]) {
    await sql`insert into checkpoints (thread_id, checkpoint_ns, checkpoint_id, checkpoint, metadata)
      values (${threadId}, '', ${id}, '{}', '{}'), (${threadId}, 'sub', ${"2" + id}, '{}', '{}')`;
  }
  const next = async () => {
    await sql`update runs set status = 'success' where thread_id = ${threadId}`;
    await sql`update threads set running_run_id = null where thread_id = ${threadId}`;
    return createdHead(true);
  };
  expect(await next()).toBe("1b");
  await sql`insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
    values (${threadId}, '', '1b', ${randomUUID()}, 0, 'c', 'json', '1')`;
  expect(await next()).toBeNull();
});
