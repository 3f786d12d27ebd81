import type { QueryCache } from "@tanstack/react-query";

import { ApiError } from "../api/api-error.ts";

/** Whether an error says that a server, or the one behind it, did not respond. */
const isOutage = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof ApiError && [0, 502, 503, 504].includes(error.status));

/**
 * Watches the queries of the page: the servers are lost while any shown query fails because no server responds.
 * @param onChange called with whether they are lost, when that changes
 * @returns a function that ends the watch
 */
export function watchServers(cache: QueryCache, onChange: (isLost: boolean) => void): () => void {
  let wasLost = false;
  return cache.subscribe(() => {
    const isLost = cache
      .getAll()
      .some((query) => query.isActive() && isOutage(query.state.fetchFailureReason ?? query.state.error));
    if (isLost === wasLost) return;
    wasLost = isLost;
    onChange(isLost);
  });
}

/** Fetches the failed queries of the page again. */
export async function retryLost(cache: QueryCache): Promise<void> {
  const failed = cache.getAll().filter((query) => query.isActive() && query.state.error !== null);
  await Promise.allSettled(failed.map((query) => query.fetch()));
}
