import { inspect } from "node:util";

import { shortageIn } from "./shortage.ts";

interface StrayLog {
  error(fields: Record<string, unknown>, message: string): void;
}

/**
 * Keeps the process alive when an unhandled error indicates a full disk or a similar shortage: one write is lost, but
 * the process is in a known state. Any other unhandled error is a bug that leaves it in an unknown state: it exits with
 * status 1, as Node.js does.
 *
 * @returns a function that removes the handler
 */
export function surviveShortages(log: StrayLog): () => void {
  const onStrayError = (error: unknown) => {
    if (shortageIn(error)) {
      log.error(
        { err: error },
        "unhandled error caused by a full disk or another resource limit; the server continues",
      );
      return;
    }
    // a listener that is not from a server takes precedence
    if (process.listeners("uncaughtException").some(({ name }) => name !== onStrayError.name)) return;
    process.stderr.write(`${inspect(error)}\n`);
    process.exit(1);
  };
  // also called for unhandled rejections
  process.on("uncaughtException", onStrayError);
  return () => void process.off("uncaughtException", onStrayError);
}
