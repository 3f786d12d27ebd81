import { inspect } from "node:util";

/** To the developer: the server passes a host's standard error on. */
export function complain(message: string, error?: unknown): void {
  process.stderr.write(error === undefined ? `${message}\n` : `${message} ${inspect(error)}\n`);
}
