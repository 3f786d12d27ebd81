import { addressOf } from "../api/prefix.ts";

const KEY = "heddle.reloaded";
/** Two failures within this time are not caused by a server update. */
const ONCE_MS = 20_000;

const lost = new WeakSet<object>();

/** Whether an error says that a file of the console could not be loaded. Only a reload of the page loads it again. */
export const isLostFile = (error: unknown): boolean => typeof error === "object" && error !== null && lost.has(error);

/**
 * Reloads a page, once, that was open while the server was updated: the files it requests no longer exist. A page whose
 * server does not respond stays, because a reload would lose it.
 */
export function reloadWhenReplaced(): void {
  window.addEventListener("vite:preloadError", ({ payload }) => {
    lost.add(payload);
    if (Date.now() - Number(sessionStorage.getItem(KEY) ?? 0) < ONCE_MS) return;
    // HEAD: the service worker answers only GET
    void fetch(addressOf("/"), { method: "HEAD", cache: "no-store" }).then(
      ({ ok }) => {
        if (!ok) return;
        sessionStorage.setItem(KEY, String(Date.now()));
        location.reload();
      },
      () => {},
    );
  });
}
