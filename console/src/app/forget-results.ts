/** Name of the cache with the newest results (offline.ts). */
export const CACHE = "heddle.data";

/** Browsers have the cache on HTTPS and localhost only. */
export const canKeepResults = (): boolean => "caches" in globalThis && "serviceWorker" in navigator;

/** Deletes the results that are kept for times without the server: another user may sign in. */
export async function forgetResults(): Promise<void> {
  if (canKeepResults()) await caches.delete(CACHE).catch(() => {});
}
