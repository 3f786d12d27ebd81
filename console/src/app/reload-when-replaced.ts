const KEY = "heddle.reloaded";
/** Two failures within this time are no update of the server. */
const ONCE_MS = 20_000;

/** A page that was open while the server was updated asks for files that are no more: it is loaded again, once. */
export function reloadWhenReplaced(): void {
  window.addEventListener("vite:preloadError", (event) => {
    if (Date.now() - Number(sessionStorage.getItem(KEY) ?? 0) < ONCE_MS) return;
    event.preventDefault();
    sessionStorage.setItem(KEY, String(Date.now()));
    location.reload();
  });
}
