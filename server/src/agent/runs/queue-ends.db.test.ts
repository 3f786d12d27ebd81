/** Ends, releases and cancellations of runs as decided by Postgres: functions/runs.sql through runs/sql.ts. */
import { randomUUID } from "node:crypto";

import { describe, expect, test } from "vitest";

import { queueRows } from "../../../test/queue-rows.ts";
import { cancelRunRow, claimRuns, deleteFinishedRun, releaseRun, selectRunState } from "./sql.ts";

const { sql, me, newThread, create, finish, thread, status, checkpoint, countOf: countRows } = await queueRows();

/** Releases the run's first attempt, which counts as a failure. */
const releaseFirst = (runId: string) =>
  releaseRun(sql, { runId, attempt: 1, blame: true, maxFailures: 3, reason: "r", notify: false });

describe("ending", () => {
  test("an end writes run and thread together, and a second one, or one of an older attempt, is lost", async () => {
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

  test("a thread with more runs stays busy, and goes to error when its last run failed", async () => {
    const t = await newThread();
    const first = await create(t, { claim: true });
    const second = await create(t);
    expect((await finish(first.runId)).waiting).toBe(true);
    expect((await thread(t))!.status).toBe("busy");
    await claimRuns(sql, me, 100);
    await finish(second.runId, 1, "error");
    expect((await thread(t))!.status).toBe("error");
  });

  test("a released run returns to its place in the queue, and its old attempt can write nothing", async () => {
    const t = await newThread();
    const run = await create(t, { claim: true });
    const behind = await create(t);
    const released = await releaseFirst(run.runId);
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

  test("retries a run that progresses between its failures, and gives up one that does not", async () => {
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
    expect(await countRows("checkpoints", threadId)).toBe(0);
    expect(await countRows("checkpoint_blobs", threadId)).toBe(0);
  });
});

describe("cancelling", () => {
  test("interrupt of a pending run keeps it, rollback deletes it; both free the thread", async () => {
    const t = await newThread();
    const interrupted = await create(t);
    const rolledBack = await create(t);
    const cancel = (runId: string, action: "interrupt" | "rollback") =>
      cancelRunRow(sql, { runId, threadId: t, action, reason: null });
    expect((await cancel(interrupted.runId, "interrupt")).outcome).toBe("cancelled");
    expect(await thread(t)).toMatchObject({ status: "busy" });
    expect((await cancel(rolledBack.runId, "rollback")).outcome).toBe("cancelled");
    expect(await status(interrupted.runId)).toBe("interrupted");
    expect(await status(rolledBack.runId)).toBeUndefined();
    expect(await thread(t)).toMatchObject({ status: "idle" });
    expect((await cancel(interrupted.runId, "interrupt")).outcome).toBe("finished");
    expect((await cancel(rolledBack.runId, "interrupt")).outcome).toBe("not_found");
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
    expect(await countRows("checkpoints", t)).toBe(1);
    expect(await countRows("checkpoint_blobs", t)).toBe(1);
    expect(await countRows("checkpoint_writes", t)).toBe(1);
    expect((await claimRuns(sql, me, 100)).map((c) => c.run_id)).toContain(next.runId);
  });

  test("interrupt strategy keeps the stopped runs, and the new run follows", async () => {
    const t = await newThread();
    const running = await create(t, { claim: true });
    const pending = await create(t);
    const next = await create(t, { strategy: "interrupt" });
    expect(new Set(next.cancelled)).toEqual(new Set([running.runId, pending.runId]));
    expect(await status(pending.runId)).toBe("interrupted");
    expect((await finish(running.runId, 1, "cancelled")).outcome).toBe("interrupted");
    expect((await claimRuns(sql, me, 100)).map((c) => c.run_id)).toContain(next.runId);
  });

  test("a cancelled run whose host died ends as cancelled instead of being retried", async () => {
    const t = await newThread();
    const run = await create(t, { claim: true });
    await cancelRunRow(sql, { runId: run.runId, threadId: t, action: "interrupt", reason: "enough" });
    const released = await releaseFirst(run.runId);
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
    expect(await countRows("checkpoints", t)).toBe(0);
    expect(await countRows("checkpoint_writes", t)).toBe(0);
  });
});
