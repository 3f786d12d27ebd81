const DATABASE = "heddle";
const STORE = "results";

/** Service workers, which keep the files, are there on HTTPS and localhost only. */
export const canKeepResults = (): boolean => "serviceWorker" in navigator;

/** Runs a request on the store of the newest results, which the console keeps for times without its server (offline.ts). */
export function onResults<T>(mode: IDBTransactionMode, request: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(DATABASE, 1);
    opening.onupgradeneeded = () => void opening.result.createObjectStore(STORE);
    opening.onerror = () => reject(opening.error!);
    opening.onsuccess = () => {
      const transaction = opening.result.transaction(STORE, mode);
      const asked = request(transaction.objectStore(STORE));
      transaction.oncomplete = () => {
        opening.result.close();
        resolve(asked.result);
      };
      transaction.onabort = () => {
        opening.result.close();
        reject(transaction.error ?? new Error("The transaction was aborted"));
      };
    };
  });
}

/** Deletes what is kept: another user may sign in. */
export async function forgetResults(): Promise<void> {
  if (canKeepResults()) await onResults("readwrite", (store) => store.clear()).catch(() => {});
}
