const KEY = "heddle.reloaded";
/** Two failures within this time are not caused by a server update. */
const ONCE_MS = 20_000;

/** Reloads a page, once, that was open while the server was updated: the files it requests no longer exist. */
export function reloadWhenReplaced(): void {
  window.addEventListener("vite:preloadError", (event) => {
    if (Date.now() - Number(sessionStorage.getItem(KEY) ?? 0) < ONCE_MS) return;
    event.preventDefault();
    sessionStorage.setItem(KEY, String(Date.now()));
    location.reload();
  });
}
