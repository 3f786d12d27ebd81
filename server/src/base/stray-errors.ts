import { inspect } from "node:util";

import { shortageIn } from "./shortage.ts";

interface StrayLog {
  error(fields: Record<string, unknown>, message: string): void;
}

/**
 * Keeps the process when an error that no code has handled tells of a full disk or its like: that write is lost, and
 * everything else is sound. Any other such error is a bug after which nothing is known of the process: it ends with
 * status 1, as Node ends it. @returns what takes this back
 */
export function surviveShortages(log: StrayLog): () => void {
  const onStrayError = (error: unknown) => {
    if (shortageIn(error)) {
      log.error({ err: error }, "an error of a full disk or its like was not handled; the server continues");
      return;
    }
    // another listener than those of servers decides for itself
    if (process.listeners("uncaughtException").some(({ name }) => name !== onStrayError.name)) return;
    process.stderr.write(`${inspect(error)}\n`);
    process.exit(1);
  };
  // rejections that no code has handled come here too
  process.on("uncaughtException", onStrayError);
  return () => void process.off("uncaughtException", onStrayError);
}
