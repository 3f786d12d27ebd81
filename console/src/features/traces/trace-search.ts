export const VIEWS = ["run", "feedback", "metadata", "raw"] as const;
export type View = (typeof VIEWS)[number];

/** What the address leaves out. */
export const TRACE_SEARCH: { view: View } = { view: "run" };

export interface TraceSearch {
  /** Which side of a run is shown. */
  view?: View;
  /** The run may not have arrived yet: addresses that clients print say so (contract trace-platform §8). */
  poll?: true;
}

export const readTraceSearch = ({ view, poll }: { view?: unknown; poll?: unknown }): TraceSearch => ({
  view: VIEWS.includes(view as View) ? (view as View) : "run",
  ...(poll === true && { poll }),
});
