import type { QueryClient } from "@tanstack/react-query";

import { BASE_PATH } from "../api/base-path.ts";

const loadKept = () => import("./kept-data.ts");

/** Whether the service worker has served this page because the server does not answer. */
const isOffline = (): boolean => document.documentElement.dataset["offline"] !== undefined;

/** Before the first render: loads what the pages last had, if the server does not answer. */
export async function restoreWhenOffline(client: QueryClient): Promise<void> {
  if (isOffline()) await (await loadKept()).restoreData(client).catch(() => {});
}

/** After the first page: keeps its files and data for a time when the server does not answer. */
export function prepareForOffline(client: QueryClient): void {
  // browsers have no workers on plain http, except on this machine
  if (import.meta.env.DEV || !("serviceWorker" in navigator)) return;
  addEventListener(
    "load",
    () =>
      void (async () => {
        await navigator.serviceWorker.register(`${BASE_PATH}/service-worker.js`);
        const { active } = await navigator.serviceWorker.ready;
        const files = performance.getEntriesByType("resource").map(({ name }) => name);
        active?.postMessage(files.filter((name) => name.startsWith(`${location.origin}${BASE_PATH}/assets/`)));
        (await loadKept()).keepData(client);
      })().catch(() => {}),
  );
}

/** Deletes what this browser keeps: nobody is signed in. */
export async function forgetKept(): Promise<void> {
  if ("serviceWorker" in navigator) await (await loadKept()).forgetData().catch(() => {});
}
