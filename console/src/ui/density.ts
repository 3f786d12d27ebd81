/**
 * Height of the rows of all tables, as the reader has chosen it. The heights are in app/tokens.css; this browser keeps
 * the choice, which its other tabs follow.
 */
import { useSyncExternalStore } from "react";

export const DENSITIES = ["comfortable", "compact"] as const;
export type Density = (typeof DENSITIES)[number];

/** Key of the browser's storage; public/color-scheme.js applies its value before the first paint. */
const KEY = "heddle.density";
const CHANGED = "heddle-density";

const read = (): Density => (document.documentElement.dataset["density"] === "compact" ? "compact" : "comfortable");

function apply(density: string | null): void {
  document.documentElement.dataset["density"] = density ?? DENSITIES[0];
  dispatchEvent(new Event(CHANGED));
}

export function setDensity(density: Density): void {
  apply(density);
  localStorage.setItem(KEY, density);
}

const onStorage = ({ key, newValue }: StorageEvent): void => void (key === KEY && apply(newValue));

function subscribe(listener: () => void): () => void {
  addEventListener("storage", onStorage);
  addEventListener(CHANGED, listener);
  return () => removeEventListener(CHANGED, listener);
}

export const useDensity = (): Density => useSyncExternalStore(subscribe, read);

/** Returns the height of a row in pixels, for tables that place their rows themselves. */
export const useRowHeight = (): number =>
  useSyncExternalStore(subscribe, () =>
    Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--heddle-row-height")),
  );
