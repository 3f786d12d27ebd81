import { AsyncLocalStorage } from "node:async_hooks";

import { getConfig, interrupt, task } from "@langchain/langgraph";

/**
 * Helpers for steps that are done once, timers and signals (docs/retries.md). Copy this file into a project: it needs
 * LangGraph alone, and runs without Heddle too, where timers and signals are interrupts that a client answers.
 */

/** Tools get the configuration of their node, not that of the step that calls them. */
const stepKey = new AsyncLocalStorage<string>();

/**
 * Does something once: its result is stored before it is used, and a retry of the run gets the stored one. A node must
 * call its steps in the same order each time. `name` may contain what the step is about: with another name, a step is a
 * new one.
 * @param fn gets the step's idempotency key
 */
export const step = <T>(name: string, fn: (key: string) => T | Promise<T>): Promise<T> =>
  task(name, async () => {
    const key = configuredKey();
    return stepKey.run(key, () => fn(key));
  })() as Promise<T>;

/** Returns the key of the current step: the same in each retry, another one for each step and thread. */
export const idempotencyKey = (): string => stepKey.getStore() ?? configuredKey();

function configuredKey(): string {
  const { heddle_idempotency_key: key, __pregel_task_id: taskId } = getConfig().configurable ?? {};
  return String(key ?? taskId);
}

/** Does a request as a step, with the header `Idempotency-Key`. Its response is stored as text; an error status throws. */
export const fetchOnce = (name: string, url: string | URL, init: RequestInit = {}): Promise<string> =>
  step(name, async (key) => {
    const headers = new Headers(init.headers);
    headers.set("Idempotency-Key", key);
    const response = await fetch(url, { ...init, headers });
    if (!response.ok) throw new Error(`${response.status} from ${new URL(url).host}: ${await response.text()}`);
    return response.text();
  });

/** Waits until a time. No process waits: the run ends, and the server resumes its thread. */
export const sleepUntil = (time: Date): void => void interrupt({ heddle_wait: { until: time.toISOString() } });

/** Waits for a while, counted from the first time that the node comes here. */
export const sleepFor = async (ms: number): Promise<void> =>
  sleepUntil(new Date(await step("sleep", () => Date.now() + ms)));

/**
 * Waits for a signal: `POST /threads/{thread_id}/signals/{name}` with `{"payload": …}`. Signals that came before count.
 * @param until gives up at this time
 * @returns the payload; undefined after `until`
 */
export function waitForSignal<T = unknown>(name: string, until?: Date): T | undefined {
  const answer: { signal?: string; payload?: T } = interrupt({
    heddle_wait: { signal: name, ...(until && { until: until.toISOString() }) },
  });
  return answer.signal === undefined ? undefined : answer.payload;
}
