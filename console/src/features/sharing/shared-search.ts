import { readTraceSearch, type View } from "../traces/trace-search.ts";

/** Reads the selected run; without one the root is shown. */
export const readSharedSearch = (search: { run?: unknown; view?: unknown }): { run?: string; view?: View } => ({
  ...(typeof search.run === "string" && { run: search.run }),
  ...(search.view !== undefined && readTraceSearch(search)),
});
