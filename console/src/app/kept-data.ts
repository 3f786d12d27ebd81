/**
 * Keeps what pages have loaded in this browser (IndexedDB), so that the console shows it while its server does not
 * answer. Bounded by {@link MAX_CHARACTERS}, newest first; one copy for each workspace's last visit. Not kept for callers
 * with a typed key, which lives only as long as the tab; deleted on the sign-in page.
 */
import { dehydrate, hydrate, type QueryClient } from "@tanstack/react-query";

import { BASE_PATH } from "../api/base-path.ts";
import { readKey, readWorkspace } from "../api/credentials.ts";

const DATABASE = `heddle-console${BASE_PATH}`;
const STORE = "data";
const MAX_CHARACTERS = 4_000_000;
const SAVE_MS = 3_000;

interface Kept {
  workspace: string | null;
  state: ReturnType<typeof dehydrate>;
}

function request<T>(made: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    made.onsuccess = () => resolve(made.result);
    made.onerror = () => reject(made.error ?? new Error("IndexedDB failed"));
  });
}

async function openStore(mode: IDBTransactionMode): Promise<IDBObjectStore> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
  const database = await request(opening);
  const transaction = database.transaction(STORE, mode);
  transaction.oncomplete = () => database.close();
  transaction.onabort = () => database.close();
  return transaction.objectStore(STORE);
}

/** Loads what was kept into the cache; it is stale at once. */
export async function restoreData(client: QueryClient): Promise<void> {
  const kept = await request((await openStore("readonly")).get(STORE) as IDBRequest<Kept | undefined>);
  if (kept?.workspace !== readWorkspace()) return;
  // a page may be opened an hour after the start
  hydrate(client, kept.state, { defaultOptions: { queries: { gcTime: Number.POSITIVE_INFINITY } } });
}

export async function forgetData(): Promise<void> {
  await request((await openStore("readwrite")).clear());
}

/** Saves what has been loaded, a few seconds after the last change and when the page is left. */
export function keepData(client: QueryClient): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const save = () => {
    clearTimeout(timer);
    timer = undefined;
    // the cache still has what a session that has ended had loaded
    const isSignedOut = location.pathname === `${BASE_PATH}/sign-in`;
    if (readKey() === null && !isSignedOut) void saveData(client).catch(() => {});
  };
  client.getQueryCache().subscribe(({ type, query }) => {
    if (type === "updated" && query.state.status === "success") timer ??= setTimeout(save, SAVE_MS);
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden" && timer !== undefined) save();
  });
}

async function saveData(client: QueryClient): Promise<void> {
  const { queries } = dehydrate(client, { shouldDehydrateQuery: ({ state }) => state.status === "success" });
  let size = 0;
  const newest = queries
    .toSorted((a, b) => b.state.dataUpdatedAt - a.state.dataUpdatedAt)
    .filter(({ state }) => (size += JSON.stringify(state.data)?.length ?? 0) < MAX_CHARACTERS);
  const kept: Kept = { workspace: readWorkspace(), state: { queries: newest, mutations: [] } };
  await request((await openStore("readwrite")).put(kept, STORE));
}
