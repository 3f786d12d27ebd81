/**
 * What the console last had, for when its server cannot be reached: the results of its queries, in this browser's cache of
 * the console's origin. Signing out, and being signed out, deletes them. The files are kept by public/service-worker.js.
 */
import { dehydrate, hydrate, type Query, type QueryClient } from "@tanstack/react-query";

import { readKey } from "../api/credentials.ts";
import { PREFIX } from "../api/prefix.ts";
import { CACHE } from "./forget-results.ts";

const KEY = `${PREFIX}/last-results.json`;
const SAVE_MS = 20_000;
/** Largest text of a result that is kept, and of all. */
const MAX_RESULT = 256 * 1024;
const MAX_ALL = 4 * 1024 * 1024;

/** Registers the service worker, and saves results from time to time and when the page is left. */
export function keepForOffline(client: QueryClient): void {
  void navigator.serviceWorker.register(`${PREFIX}/service-worker.js`).catch(() => {});
  const save = () => void saveResults(client).catch(() => {});
  setInterval(() => {
    if (document.visibilityState === "visible") save();
  }, SAVE_MS);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") save();
  });
}

let saved = 0;

async function saveResults(client: QueryClient): Promise<void> {
  // a key lives as long as its tab, and what an ended session has loaded is still there on the sign-in page
  if (readKey() !== null || location.pathname === `${PREFIX}/sign-in`) return;
  const queries = client.getQueryCache().getAll();
  const newest = Math.max(0, ...queries.map(({ state }) => state.dataUpdatedAt));
  if (newest === saved) return;
  const kept = selectResults(queries);
  const state = dehydrate(client, { shouldDehydrateQuery: (query) => kept.has(query.queryHash) });
  const cache = await caches.open(CACHE);
  await cache.put(KEY, new Response(JSON.stringify(state), { headers: { "content-type": "application/json" } }));
  saved = newest;
}

/** Returns the hashes of the results to keep: the newest that fit. */
export function selectResults(queries: readonly Pick<Query, "queryHash" | "state">[]): Set<string> {
  const kept = new Set<string>();
  let size = 0;
  const byAge = queries
    .filter(({ state }) => state.status === "success")
    .toSorted((a, b) => b.state.dataUpdatedAt - a.state.dataUpdatedAt);
  for (const { queryHash, state } of byAge) {
    const { length } = JSON.stringify(state.data) ?? "";
    if (length > MAX_RESULT || size + length > MAX_ALL) continue;
    size += length;
    kept.add(queryHash);
  }
  return kept;
}

/** Shows what was saved. */
export async function restoreResults(client: QueryClient): Promise<void> {
  const kept = await (await caches.open(CACHE)).match(KEY);
  if (kept) hydrate(client, await kept.json());
}
