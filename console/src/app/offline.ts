/**
 * What the console last had, for when its server cannot be reached: the results of its queries, in IndexedDB. Signing out,
 * and being signed out, deletes them. The files are kept by public/service-worker.js.
 */
import { dehydrate, hydrate, type Query, type QueryClient } from "@tanstack/react-query";

import { readKey } from "../api/credentials.ts";
import { addressOf, PREFIX } from "../api/prefix.ts";
import { onResults } from "./forget-results.ts";

/** The console of another path of this origin has its own. */
const KEY = `results${PREFIX}`;
const SAVE_MS = 20_000;
/** Largest text of a result that is kept, and of all. */
const MAX_RESULT = 256 * 1024;
const MAX_ALL = 4 * 1024 * 1024;

/** Registers the service worker, and saves results from time to time and when the page is left. */
export function keepForOffline(client: QueryClient): void {
  void navigator.serviceWorker.register(`${PREFIX}/service-worker.js`).catch(() => {});
  void navigator.serviceWorker.ready.then(keepFiles);
  const save = () => {
    void navigator.serviceWorker.ready.then(keepFiles);
    void saveResults(client).catch(() => {});
  };
  setInterval(() => {
    if (document.visibilityState === "visible") save();
  }, SAVE_MS);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") save();
  });
}

/** Entries of the page's timeline whose files the worker was told. */
let told = 0;

/** Names the files that were loaded without the worker, each once. */
function keepFiles({ active }: ServiceWorkerRegistration): void {
  const entries = performance.getEntriesByType("resource");
  const files = entries.slice(told).flatMap(({ name }) => (name.startsWith(addressOf("/assets/")) ? name : []));
  told = entries.length;
  if (files.length > 0) active?.postMessage(files);
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
  // structured, as results contain maps
  await onResults("readwrite", (store) => store.put(state, KEY));
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
    const length = sizeOf(state.data);
    if (length > MAX_RESULT || size + length > MAX_ALL) continue;
    size += length;
    kept.add(queryHash);
  }
  return kept;
}

const values = (_: string, value: unknown): unknown =>
  value instanceof Map || value instanceof Set ? [...(value as Iterable<unknown>)] : value;

/** Returns about the characters of a result as JSON; of what cannot be written as JSON, more than may be kept. */
function sizeOf(data: unknown): number {
  try {
    return (JSON.stringify(data, values) ?? "").length;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Shows what was saved. */
export async function restoreResults(client: QueryClient): Promise<void> {
  const kept = await onResults<unknown>("readonly", (store) => store.get(KEY));
  if (kept) hydrate(client, kept);
}
