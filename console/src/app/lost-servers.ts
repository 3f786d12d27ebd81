import type { QueryCache } from "@tanstack/react-query";

import { ApiError } from "../api/api-error.ts";

/** Whether an error means that a server, or a server behind it, did not respond. */
const isOutage = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof ApiError && [0, 502, 503, 504].includes(error.status));

/**
 * Watches the active queries of the page: servers are lost while any of them fails because a server does not respond.
 * @param onChange called when the state changes, with whether servers are lost
 * @returns a function that stops watching
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

/** Retries the failed active queries of the page. */
export async function retryLost(cache: QueryCache): Promise<void> {
  const failed = cache.getAll().filter((query) => query.isActive() && query.state.error !== null);
  await Promise.allSettled(failed.map((query) => query.fetch()));
}
