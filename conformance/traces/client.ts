import { Client, type ClientConfig } from "langsmith";
import { inject } from "vitest";

export const url = inject("tracesUrl");

/** Creates an unmodified official client. It never retries, so that 5xx responses are visible. */
export const connect = (config: ClientConfig = {}): Client =>
  new Client({ apiUrl: url, apiKey: "none", callerOptions: { maxRetries: 0 }, ...config });

export const client = connect();

/** Returns a name unique within the run. */
export const unique = (name: string): string => `${name} ${crypto.randomUUID()}`;

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
