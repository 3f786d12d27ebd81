/** Calls that create, execute and end runs. */
import assert from "node:assert/strict";

import { FencedError } from "../../../graph-host/src/checkpoints/errors.ts";
import type { WriteItem } from "../../../graph-host/src/checkpoints/rows.ts";
import { ALL } from "../../src/agent/custom-auth/conditions.ts";
import { selectWaiting } from "../../src/agent/queue-status/sql.ts";
import * as queue from "../../src/agent/runs/sql.ts";
import type { Sql } from "../../src/base/db/connect.ts";
import { byNumber, type Call, idsFor, type Names, simple, stateText } from "./call.ts";
import { agedRank, type Hold, laneOf } from "./flow.ts";
import { passOver, readHolds, setHolds } from "./holds.ts";
import { brokenChoice, brokenEnd, brokenReasons, withRoom } from "./laws.ts";
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
    kwargs: JSON.stringify(kwargsOf(run, plan)),
    metadata: JSON.stringify({
      refusable: plan.refusable,
      // a claim may put a run that continues another user's in that user's name
      creator: plan.user,
      ...(plan.customer !== null && { customer: plan.customer }),
      ...(plan.group !== null && { group: plan.group }),
    }),
    strategy: plan.strategy,
    createThread: asked.createThread,
    afterSeconds: plan.delayed ? model.DELAY : 0,
    temporary,
    describe: false,
    serverId: serverId(plan.server),
    claim: plan.claim,
  };
  row.serverId = serverId(names.servers[plan.server]!);
  asked.server = names.servers[plan.server]!;
  const flags = [
    ...(["claim", "delayed", "temporary", "createThread", "input", "refusable"] as const).filter((flag) => asked[flag]),
    ...(["customer", "group", "user", "model", "priority", "expires"] as const)
      .filter((trait) => asked[trait] !== null)
      .map((trait) => `${trait} ${asked[trait]}`),
  ];
  return {
    text: `S${asked.server} creates R${run} (graph ${plan.graph}) on T${plan.thread}: ${[plan.strategy, ...flags].join(", ")}`,
    direct: true,
    async send(sql) {
      let [answer] = await queue.createRuns(sql, [row], false);
      if (answer!.outcome === "locked") [answer] = await queue.createRuns(sql, [row]);
      const { outcome, claimed, cancelled, fresh_thread, head } = answer!;
      const full = outcome === "queue_full" ? (JSON.parse(answer!.run!) as { key: string }).key : undefined;
      return [
        (now, concurrent) => {
          let expected = model.create(now, asked);
          // a run that cannot be refused came between the count and the creation; the law counts those that can
          if (concurrent && outcome === "created" && expected.outcome === "queue_full") {
            expected = model.create(now, { ...asked, refusable: false });
            model.findRun(now, run)!.refusable = true;
          }
          assert.equal(outcome, expected.outcome);
          if (full !== undefined) assert(expected.full.includes(full), `${full} is not full`);
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

function kwargsOf(run: number, plan: Omit<model.NewModelRun, "run">): object {
  const { user, model: used, priority, expires } = plan;
  const configurable = {
    ...(user !== null && { langgraph_auth_user_id: user }),
    ...(used !== null && { model: used }),
  };
  const own = { ...(priority !== null && { priority }), ...(expires !== null && { expires_after: expires }) };
  return {
    config: { configurable, heddle: { queue: own } },
    ...(model.hasWebhook(run) && { webhook: "http://receiver.test/" }),
    ...(plan.input && { input: {} }),
    ...(plan.refusable && { refusable: true }),
  };
}

export function claimCall(server: number, limit: number): Call {
  return {
    text: `S${server} claims up to ${limit}`,
    async send(sql) {
      // the share of a server includes all runs that are old enough, which are here all
      const isShare = limit % 2 === 0;
      // in one transaction, so that no other claim changes what is held
      const [rows, waiting, held] = await sql.begin(async (own) => {
        const tx = own as unknown as Sql;
        const began = isShare
          ? await queue.claimShare(tx, serverId(server), limit, -1)
          : await queue.claimRuns(tx, serverId(server), limit);
        return [began, isShare ? [] : await selectWaiting(tx, { limit: 100 }, ALL), await readHolds(tx)] as const;
      });
      const claimed = rows.map((row) => numberIn(row.run_id));
      const shown = waiting.map((row) => ({
        ...{ run: numberIn(row.run_id), reason: row.reason, key: row.limited_by },
      }));
      return [
        (m, concurrent) => {
          // threads that another call locks are skipped
          const isOpen = (r: model.ModelRun) => !concurrent || claimed.includes(r.run);
          const before = m.holds;
          const after = held.flatMap(({ key, runs }): Hold[] => {
            const one = m.runs.find((r) => r.flow && runs.some((run) => numberIn(run) === r.run));
            return [{ key, lane: one ? laneOf(one) : "none" }];
          });
          m.holds = after;
          const plain = () => model.claimable(m, server).filter((r) => !r.flow && isOpen(r));
          const begun = plain().slice(0, limit);
          for (const r of begun) model.start(m, server, r, []);
          const order = explain(
            m,
            server,
            claimed.filter((run) => !begun.some((r) => r.run === run)),
            { isOpen, before },
          );
          assert(
            order.runs,
            `claimed ${name(claimed)}, of which plain are ${name(begun.map(({ run }) => run))}\n${order.why}`,
          );
          for (const run of order.runs) begin(m, server, run, { isOpen, before });
          const isCut = claimed.length === limit;
          assert.deepEqual(setHolds(m, after, { concurrent, isCut }), [], `claimed ${name(claimed)}`);
          if (!concurrent && claimed.length < limit) {
            const why = isShare ? [] : brokenReasons(model.reasons(m, server), shown);
            assert.deepEqual(
              [...brokenEnd(withRoom(m, open(m, server, isOpen))), ...why],
              [],
              `claimed ${name(claimed)}`,
            );
          }
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

/** What a claim could choose from. */
interface Choice {
  isOpen: (r: model.ModelRun) => boolean;
  /** What was held before. The model has what is held after it. */
  before: Hold[];
}

/** The runs with flow control that a claim could start but for their limits. */
const open = (m: Model, server: number, isOpen: Choice["isOpen"]): model.ModelRun[] =>
  model.claimable(m, server).filter((r) => r.flow && isOpen(r));

/** Starts a run with flow control. @returns the laws that this choice breaks */
function begin(m: Model, server: number, run: number, { isOpen, before }: Choice): string[] {
  const choice = open(m, server, isOpen);
  const room = withRoom(m, choice);
  const r = room.find((other) => other.run === run);
  if (!r) {
    const why = model.claimable(m, server).some((other) => other.run === run)
      ? "beyond a limit"
      : "not due or not free";
    return [`limits: R${run} began, which is ${why}`];
  }
  const rank = agedRank(m, r);
  const waiting = withRoom({ ...m, holds: [...before, ...m.holds] }, room);
  model.start(m, server, r, waiting);
  const passed = passOver(
    m,
    r,
    choice.filter((other) => other !== r),
  );
  return [...brokenChoice(m, r, rank, waiting), ...passed];
}

/** Searches for an order in which a claim may have chosen these runs: its answer does not have it. */
function explain(from: Model, server: number, claimed: number[], choice: Choice): { runs?: number[]; why: string } {
  if (claimed.length === 0) return { runs: [], why: "" };
  let why = "";
  for (const run of claimed) {
    const m = structuredClone(from);
    const broken = begin(m, server, run, choice);
    if (broken.length > 0) {
      why += `R${run} next: ${broken.join("; ")}\n`;
      continue;
    }
    const rest = claimed.filter((other) => other !== run);
    const found = explain(m, server, rest, choice);
    if (found.runs) return { runs: [run, ...found.runs], why };
    why += found.why;
  }
  return { why };
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

export async function release(sql: Sql, run: number, attempt: number, blame: boolean): Promise<string> {
  const released = await queue.releaseRun(sql, {
    ...{ runId: runId(run), attempt, blame, maxFailures: MAX_FAILURES, reason: "the host exited", notify: false },
  });
  return released.outcome;
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
