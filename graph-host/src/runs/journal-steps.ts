import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";

import type { RunnableConfig } from "@langchain/core/runnables";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";

import { TASK_CALL } from "../../replaced-modules.mjs";
import { HeddleSaver } from "../checkpoints/heddle-saver.ts";
import { faultPoint } from "../fault-points.ts";

interface Task {
  func: (...args: unknown[]) => unknown;
  name: string;
}
type Call = (task: Task, ...args: unknown[]) => Promise<unknown>;

/** Key of `configurable` with the idempotency key of the current task. */
export const IDEMPOTENCY_KEY = "heddle_idempotency_key";

/**
 * Makes a task of the functional API a step that is done once. LangGraph stores the result of a task when it completes,
 * but uses it before it is stored. Here a task starts when the checkpoint that its id derives from is committed, so that
 * a retry meets the same task with the same idempotency key, and its result is returned when it is committed.
 */
export function journalSteps(): void {
  const scope = globalThis as { [TASK_CALL]?: (original: Call, task: Task, ...args: unknown[]) => Promise<unknown> };
  scope[TASK_CALL] = async (original, task, ...args) => {
    const saver = currentConfig()?.configurable?.["__pregel_checkpointer"];
    if (!(saver instanceof HeddleSaver)) return original(task, ...args);
    const func = async (...given: unknown[]) => {
      await saver.flush();
      const { configurable } = currentConfig() ?? {};
      if (configurable) configurable[IDEMPOTENCY_KEY] = idempotencyKey(configurable);
      return task.func(...given);
    };
    const result = await original({ ...task, func }, ...args);
    // LangGraph hands the writes of a task to the saver in the turn in which the task completes
    await nextTurn();
    faultPoint("before-step");
    await saver.flush();
    faultPoint("after-step");
    return result;
  };
}

const currentConfig = () =>
  AsyncLocalStorageProviderSingleton.getRunnableConfig() as RunnableConfig<Record<string, unknown>> | undefined;

/** The same in graph-host-python/heddle_host/runs/journal_steps.py. Copies of a thread have the same task ids. */
function idempotencyKey(configurable: Record<string, unknown>): string {
  const { thread_id: threadId, __pregel_task_id: taskId } = configurable;
  return createHash("sha256")
    .update(`${String(threadId)}/${String(taskId)}`)
    .digest("hex")
    .slice(0, 32);
}
