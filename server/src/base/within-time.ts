import { createContext, Script } from "node:vm";

/**
 * Runs `work` under the VM's watchdog, which also interrupts regular expressions. @returns its result; undefined when it
 * took longer than `ms` milliseconds
 */
export function withinTime<T>(ms: number, work: () => T): T | undefined {
  try {
    return new Script("work()").runInContext(createContext({ work }), { timeout: ms }) as T;
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    return undefined;
  }
}
