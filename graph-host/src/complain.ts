import { inspect } from "node:util";

/** Reports to the developer: the server forwards a host's standard error. */
export function complain(message: string, error?: unknown): void {
  process.stderr.write(error === undefined ? `${message}\n` : `${message} ${inspect(error)}\n`);
}
