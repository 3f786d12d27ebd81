import type { QueryClient } from "@tanstack/react-query";

import { readKey } from "../api/credentials.ts";

interface Opening {
  context: { queryClient: QueryClient };
  cause: "preload" | "enter" | "stay";
}

/**
 * Starts the first queries of a page that is opened, or whose link the reader points at, while its code is loaded. The
 * page sends those that fail again, and shows their errors. An open page sends its queries itself.
 * @param start starts the queries that the page's components have, with the same options
 */
export function startQueries({ context, cause }: Opening, start: (client: QueryClient) => unknown): void {
  // what a reader only points at does not count against the rate limits of a key
  if (cause === "stay" || (cause === "preload" && readKey() !== null)) return;
  start(context.queryClient);
}

/** Longest wait for the first data, in which the page's code is loaded anyway. */
const FIRST_MS = 50;

/** Resolves when the queries that were started have their answers: the first rendering shows them, and is the only one. */
export async function firstData(client: QueryClient): Promise<void> {
  let unsubscribe = () => {};
  await new Promise<void>((resolve) => {
    setTimeout(resolve, FIRST_MS);
    const check = () => client.isFetching() === 0 && resolve();
    unsubscribe = client.getQueryCache().subscribe(check);
    check();
  });
  unsubscribe();
}
