const VIEWS = ["run", "feedback", "metadata", "raw"] as const;
export type View = (typeof VIEWS)[number];

/** Defaults, which the URL omits. */
export const TRACE_SEARCH: { view: View } = { view: "run" };

export interface TraceSearch {
  /** Selected view of a run. */
  view?: View;
  /** Whether the run may not have arrived yet, as in URLs printed by clients (contract trace-platform §8). */
  poll?: true;
}

export const readTraceSearch = ({ view, poll }: { view?: unknown; poll?: unknown }): TraceSearch => ({
  view: VIEWS.includes(view as View) ? (view as View) : "run",
  ...(poll === true && { poll }),
});
