import { readTraceSearch, type View } from "../traces/trace-search.ts";

/** The run that is looked at; without one it is the root. */
export const readSharedSearch = (given: { run?: unknown; view?: unknown }): { run?: string; view?: View } => ({
  ...(typeof given.run === "string" && { run: given.run }),
  ...(given.view !== undefined && readTraceSearch(given)),
});
