import { readTraceSearch, type View } from "../traces/trace-search.ts";

/** Reads the selected run; without one the root is shown. */
export const readSharedSearch = (given: { run?: unknown; view?: unknown }): { run?: string; view?: View } => ({
  ...(typeof given.run === "string" && { run: given.run }),
  ...(given.view !== undefined && readTraceSearch(given)),
});
