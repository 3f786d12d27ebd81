/** Calls that create, execute and end runs. */
import assert from "node:assert/strict";

import { FencedError } from "../../../graph-host/src/checkpoints/errors.ts";
import type { WriteItem } from "../../../graph-host/src/checkpoints/rows.ts";
import * as queue from "../../src/agent/runs/sql.ts";
import type { Sql } from "../../src/base/db/connect.ts";
import { byNumber, type Call, idsFor, type Names, simple, stateText } from "./call.ts";
import * as model from "./model.ts";
import type { Model, State } from "./model.ts";
import { assistantId, checkpointId, numberIn, runId, serverId, threadId } from "./rows.ts";

export const MAX_FAILURES = 3;
export function createCall(plan: Omit<model.NewModelRun, "run">, m: Model, names: Names): Call {
  const run = names.threads.length || 1;
  names.threads[run] = plan.thread;
  // a temporary run creates its thread
  const temporary = plan.temporary && !m.threads.has(plan.thread);
  const asked = { ...plan, run, temporary, createThread: plan.createThread || temporary };
  const row: queue.NewRun = {
    ...idsFor(run, names),
    assistantId: assistantId(plan.graph),
    kwargs: model.hasWebhook(run) ? '{"webhook": "http://receiver.test/"}' : "{}",
    metadata: "{}",
    strategy: plan.strategy,
    createThread: asked.createThread,
    afterSeconds: plan.delayed ? 3600 : 0,
    temporary,
    describe: false,
    serverId: serverId(plan.server),
    claim: plan.claim,
  };
  row.serverId = serverId(names.servers[plan.server]!);
  asked.server = names.servers[plan.server]!;
  const flags = (["claim", "delayed", "temporary", "createThread"] as const).filter((flag) => asked[flag]);
  return {
    text: `S${asked.server} creates R${run} (graph ${plan.graph}) on T${plan.thread}: ${[plan.strategy, ...flags].join(", ")}`,
    direct: true,
    async send(sql) {
      let [answer] = await queue.createRuns(sql, [row], false);
      if (answer!.outcome === "locked") [answer] = await queue.createRuns(sql, [row]);
      const { outcome, claimed, cancelled, fresh_thread, head } = answer!;
      return [
        (now) => {
          const expected = model.create(now, asked);
          assert.equal(outcome, expected.outcome);
          if (outcome !== "created") return;
          assert.deepEqual(
            {
              claimed,
              cancelled: cancelled.map(numberIn).sort(byNumber),
              fresh: fresh_thread,
              head: head && numberIn(head),
            },
            {
              ...{ claimed: expected.claimed, cancelled: expected.cancelled.sort(byNumber) },
              ...{ fresh: expected.fresh, head: expected.head },
            },
          );
        },
      ];
    },
  };
}

export function claimCall(server: number, limit: number): Call {
  return {
    text: `S${server} claims up to ${limit}`,
    direct: true,
    async send(sql) {
      // the share of a server includes all runs that are old enough, which are here all
      const rows = await (limit % 2 === 0
        ? queue.claimShare(sql, serverId(server), limit, 0)
        : queue.claimRuns(sql, serverId(server), limit));
      const claimed = rows.map((row) => numberIn(row.run_id));
      return [
        (m, concurrent) => {
          const due = model.claimable(m, server);
          // threads that another call locks are skipped
          const open = concurrent ? due.filter(({ run }) => claimed.includes(run)) : due;
          const expected = model
            .withinLimit(m, open)
            .map(({ run }) => run)
            .slice(0, limit);
          assert.deepEqual(claimed, expected, `claimed ${name(claimed)}, expected ${name(expected)}`);
          model.claim(m, server, claimed);
          const ours = m.runs.filter(({ run }) => claimed.includes(run));
          assert.deepEqual(
            rows.map(({ attempt, failures, cancel_action }) => ({ attempt, failures, cancel: cancel_action })),
            ours.map(({ attempt, failures, cancel }) => ({ attempt, failures, cancel })),
          );
        },
      ];
    },
  };
}

const name = (runs: number[]) => runs.map((run) => `R${run}`).join(", ") || "none";

export function finishCall(
  run: number,
  thread: number,
  attempt: number,
  outcome: "success" | "error" | "cancelled",
  state: State | null,
): Call {
  const row = {
    ...{ runId: runId(run), threadId: threadId(thread), attempt, outcome },
    error: outcome === "error" ? '{"error": "E", "message": "m"}' : null,
    state: state && stateText(state),
  };
  return simple(
    `finish R${run} attempt ${attempt} as ${outcome} ${JSON.stringify(state)}`,
    (sql) => queue.finishRuns(sql, [row], false),
    (m) => [model.finish(m, run, attempt, outcome, state)],
    (answers) => answers.map(({ outcome: came, waiting }) => ({ outcome: came, waiting })),
  );
}

export function releaseCall(run: number, attempt: number, blame: boolean): Call {
  return simple(
    `release R${run} attempt ${attempt}${blame ? " with blame" : ""}`,
    (sql) => release(sql, run, attempt, blame),
    (m) => model.release(m, run, attempt, blame, MAX_FAILURES),
  );
}

/** Releases a run. Its pause before a retry lasts until the plan advances time, or as long as pauses may. */
export async function release(sql: Sql, run: number, attempt: number, blame: boolean): Promise<string> {
  const released = queue.releaseRun(sql, {
    ...{ runId: runId(run), attempt, blame, maxFailures: MAX_FAILURES, reason: "the host exited", notify: false },
  });
  const paused = sql`
    update runs set available_at = now() + interval '4.9 s'
    where run_id = ${runId(run)} and status = 'pending' and available_at > now()`;
  const [{ outcome }] = await Promise.all([released, paused]);
  return outcome;
}

/** Writes a checkpoint as the graph host does, fenced; with `state`, ends the run in the same statement. */
export function writeCall(run: number, attempt: number, m: Model, names: Names, state: State | undefined): Call {
  const thread = names.threads[run]!;
  names.steps += 1;
  const step = names.steps;
  const slow = step % 3 === 0 ? step : (model.findRun(m, run)?.slow ?? step);
  const hasWrites = step % 5 === 0;
  const place = { threadId: threadId(thread), ns: "" };
  const blob = (channel: string, version: number) => ({
    ...{ ...place, channel, version: String(version), type: "json", blob: Buffer.from("1") },
  });
  const written = { taskId: "t", idx: 0, channel: "fast", type: "json", blob: Buffer.from("1"), replaces: false };
  const item: WriteItem = {
    fence: { runId: runId(run), attempt },
    checkpoint: {
      ...{ ...place, id: checkpointId(step), parentId: null },
      checkpoint: JSON.stringify({ channel_versions: { fast: String(step), slow: String(slow) } }),
      metadata: JSON.stringify({ run_id: runId(run) }),
    },
    blobs: [blob("fast", step), ...(slow === step ? [blob("slow", step)] : [])],
    writes: hasWrites ? [{ ...place, checkpointId: checkpointId(step), ...written }] : [],
    ...(state && { finish: { threadId: threadId(thread), state: stateText(state), notify: false } }),
  };
  const write = simple(
    `R${run} attempt ${attempt} writes checkpoint ${step}${state ? ` and ends ${JSON.stringify(state)}` : ""}`,
    (_sql, host) =>
      host.write(item, false).then(
        (finished) => ({ held: true, outcome: finished?.outcome }),
        (error: unknown) => {
          if (error instanceof FencedError) return { held: false, outcome: undefined };
          throw error;
        },
      ),
    (now) => {
      const held = model.append(now, run, attempt, { step, slow, hasWrites });
      return { held, outcome: held && state ? model.finish(now, run, attempt, "success", state).outcome : undefined };
    },
  );
  return { ...write, direct: false };
}
