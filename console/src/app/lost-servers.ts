import type { Query, QueryCache } from "@tanstack/react-query";

import { ApiError } from "../api/api-error.ts";

/** Whether an error means that a server, or a server behind it, did not respond. */
const isOutage = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof ApiError && [0, 502, 503, 504].includes(error.status));

interface Counted {
  state: { dataUpdateCount: number; error: unknown };
}

/** Queries that keep data of before because a server does not respond, each with the count of its answers then. */
const kept = new WeakMap<object, number>();

const isStale = (query: Counted): boolean =>
  kept.get(query) === query.state.dataUpdateCount && query.state.error === null;

/**
 * Keeps what a query has loaded when a server does not respond: the notice above the pages says so, and an error in the
 * place of the data would say less.
 */
export function keepLoaded(error: unknown, query: Query<unknown, unknown>): void {
  if (!isOutage(error) || query.state.data === undefined) return;
  kept.set(query, query.state.dataUpdateCount);
  query.setState({ status: "success", error: null, isInvalidated: true });
}

const isLostQuery = (query: Query): boolean =>
  isStale(query) || isOutage(query.state.fetchFailureReason ?? query.state.error);

/** Returns since when the page shows data of before, in milliseconds since 1970; null if it shows none. */
export function staleSince(cache: QueryCache): number | null {
  const lost = cache.getAll().filter((query) => query.isActive() && isLostQuery(query));
  const times = lost.flatMap(({ state }) => (state.data === undefined ? [] : state.dataUpdatedAt));
  return times.length === 0 ? null : Math.min(...times);
}

/**
 * Watches the active queries of the page: servers are lost while any of them fails because a server does not respond.
 * @param onChange called when the state changes, with whether servers are lost
 * @returns a function that stops watching
 */
export function watchServers(cache: QueryCache, onChange: (isLost: boolean) => void): () => void {
  let wasLost = false;
  return cache.subscribe(() => {
    const isLost = cache.getAll().some((query) => query.isActive() && isLostQuery(query));
    if (isLost === wasLost) return;
    wasLost = isLost;
    onChange(isLost);
  });
}

/** Retries the failed active queries of the page. */
export async function retryLost(cache: QueryCache): Promise<void> {
  const failed = cache.getAll().filter((query) => query.isActive() && (query.state.error !== null || isStale(query)));
  await Promise.allSettled(failed.map((query) => query.fetch()));
}
