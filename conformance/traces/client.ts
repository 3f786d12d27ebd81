import { Client, type ClientConfig } from "langsmith";
import { inject } from "vitest";

export const url = inject("tracesUrl");

/** The official client, unmodified. It never asks twice: 5xx answers are to be seen. */
export const connect = (config: ClientConfig = {}): Client =>
  new Client({ apiUrl: url, apiKey: "none", callerOptions: { maxRetries: 0 }, ...config });

export const client = connect();

/** A name that nothing else of the run has. */
export const unique = (name: string): string => `${name} ${crypto.randomUUID()}`;

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
