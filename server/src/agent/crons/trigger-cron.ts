import { conflict, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import type { AgentDeps } from "../deps.ts";
import { unknownCron } from "./create-cron.ts";
import { runOfCron } from "./run-of-cron.ts";
import { fireCron, selectCronNow } from "./sql.ts";

/** Starts a run of a cron now, beside its schedule. A paused cron can be run too. */
export async function triggerCron(deps: AgentDeps, id: string) {
  const cron = await selectCronNow(deps.sql, id);
  if (cron === undefined) throw unknownCron(id);
  const runId = uuid7();
  const threadId = cron.thread_id ?? uuid7();
  const outcome = await fireCron(deps.sql, {
    cronId: id,
    due: null,
    next: null,
    start: true,
    skipWaiting: false,
    runId,
    threadId,
    assistantId: cron.assistant_id,
    ...runOfCron(deps, cron, cron.now),
  });
  switch (outcome) {
    case "created":
      deps.queue.wake();
      return { cron_id: id, run_id: runId, thread_id: threadId };
    case "busy":
      throw unprocessable(
        `Thread ${threadId} is already running a task, and the cron's multitask strategy rejects a second one.`,
      );
    case "no_assistant":
    case "no_thread":
      throw unknownCron(id);
    default:
      throw conflict(`Cron ${id} is being run or changed at this moment. Try again.`);
  }
}
