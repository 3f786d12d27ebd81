/**
 * The calls of the queue. A plan names its runs, threads and servers by any number; when its turn comes it becomes a
 * call on what is there.
 */
import * as queue from "../../src/agent/runs/sql.ts";
import { deleteThreadRows, pruneThreads } from "../../src/agent/threads/sql.ts";
import { type Call, idsFor, type Names, simple, stateText } from "./call.ts";
import { passTime } from "./clock.ts";
import * as model from "./model.ts";
import type { Model, State } from "./model.ts";
import { runId, threadId } from "./rows.ts";
import { claimCall, createCall, finishCall, releaseCall, writeCall } from "./run-calls.ts";
import { serverCall } from "./server-calls.ts";

export type Plan =
  | ({ kind: "create" } & Omit<model.NewModelRun, "run">)
  | { kind: "claim"; server: number; limit: number }
  | { kind: "append"; run: number; stale: boolean }
  | { kind: "finish"; run: number; stale: boolean; outcome: "success" | "error" | "cancelled"; state: State | null }
  /** By the graph host, together with the last checkpoint. */
  | { kind: "complete"; run: number; stale: boolean; state: State }
  | { kind: "release"; run: number; stale: boolean; blame: boolean }
  | { kind: "cancel"; run: number; action: queue.CancelAction }
  | { kind: "deleteRun"; run: number }
  | { kind: "deleteThread" | "prune"; thread: number }
  | { kind: "refresh"; thread: number; state: State }
  | { kind: "register" | "beat" | "expire" | "sweep"; server: number }
  | { kind: "timePasses"; seconds: number };

/** @returns the call, or undefined when there is nothing that the plan could be about */
export function callFrom(asked: Plan, m: Model, names: Names): Call | undefined {
  const plan = m.rules || !("thread" in asked) ? asked : { ...asked, thread: ((asked.thread - 1) % 3) + 1 };
  switch (plan.kind) {
    case "create":
      return createCall(plan, m, names);
    case "claim":
      return claimCall(names.servers[plan.server]!, plan.limit);
    case "append":
    case "finish":
    case "complete":
    case "release": {
      const run = pick(plan.run, m, names, (r) => r.status === "running");
      if (run === undefined) return undefined;
      const attempt = (model.findRun(m, run)?.attempt ?? 1) - (plan.stale ? 1 : 0);
      if (plan.kind === "finish") return finishCall(run, names.threads[run]!, attempt, plan.outcome, plan.state);
      if (plan.kind === "release") return releaseCall(run, attempt, plan.blame);
      return writeCall(run, attempt, m, names, plan.kind === "complete" ? plan.state : undefined);
    }
    case "cancel": {
      const run = pick(plan.run, m, names, model.isUnfinished);
      if (run === undefined) return undefined;
      return simple(
        `cancel R${run} ${plan.action}`,
        (sql) => queue.cancelRunRow(sql, { ...idsFor(run, names), action: plan.action, reason: null }),
        (now) => model.cancel(now, run, plan.action),
        ({ outcome }) => outcome,
      );
    }
    case "deleteRun": {
      const run = pick(plan.run, m, names, (r) => !model.isUnfinished(r));
      if (run === undefined) return undefined;
      const deletion = simple(
        `delete R${run}`,
        (sql) => queue.deleteFinishedRun(sql, threadId(names.threads[run]!), runId(run)),
        (now) => model.deleteRun(now, run),
      );
      return { ...deletion, direct: false };
    }
    case "deleteThread":
      return simple(
        `delete T${plan.thread}`,
        (sql) => deleteThreadRows(sql, threadId(plan.thread)),
        (now) => model.deleteThread(now, plan.thread),
      );
    case "prune":
      return simple(
        `prune T${plan.thread}`,
        (sql) => pruneThreads(sql, [threadId(plan.thread)]),
        (now) => Number(model.prune(now, plan.thread)),
      );
    case "refresh":
      return {
        ...simple(
          `read the state of T${plan.thread} again: ${JSON.stringify(plan.state)}`,
          async (sql) => {
            const id = threadId(plan.thread);
            // nothing is written when another call changed the newest checkpoint in between, as in refreshThreadHead
            for (let isWritten = false; !isWritten;) {
              const [newest] = await sql<{ id: string | null }[]>`
                select max(checkpoint_id) as id from checkpoints where thread_id = ${id} and checkpoint_ns = ''`;
              isWritten = await queue.updateThreadHead(sql, id, newest!.id ?? "", stateText(plan.state));
            }
          },
          (now) => model.refresh(now, plan.thread, plan.state),
        ),
        direct: false,
      };
    case "timePasses":
      return {
        ...simple(
          `${plan.seconds} s pass`,
          // servers tend the queue while no slot is free
          (sql) => passTime(sql, plan.seconds).then(() => queue.tendQueue(sql)),
          (now) => model.timePasses(now, plan.seconds),
          () => undefined,
        ),
        ...{ direct: false, seconds: plan.seconds },
      };
    default:
      return serverCall(plan.kind, plan.server, names);
  }
}

/** Mostly one that the call is meant for, else any that was ever there. */
function pick(n: number, m: Model, names: Names, isMeant: (r: model.ModelRun) => boolean): number | undefined {
  const meant = m.runs.filter(isMeant).map(({ run }) => run);
  const any = Object.keys(names.threads).map(Number);
  const from = meant.length > 0 && n % 8 !== 0 ? meant : any;
  return from[(n >> 3) % from.length];
}
