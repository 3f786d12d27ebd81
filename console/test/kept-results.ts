import type { Page } from "playwright-core";

/** Returns what the console keeps in the browser for times without its server, as text; "" for nothing. */
export const keptResults = (page: Page): Promise<string> =>
  page.evaluate(
    () =>
      new Promise<string>((resolve) => {
        const opening = indexedDB.open("heddle", 1);
        opening.onupgradeneeded = () => void opening.result.createObjectStore("results");
        opening.onsuccess = () => {
          const reading = opening.result.transaction("results").objectStore("results").getAll();
          reading.onsuccess = () => {
            opening.result.close();
            resolve(reading.result.length === 0 ? "" : JSON.stringify(reading.result));
          };
        };
      }),
  );
