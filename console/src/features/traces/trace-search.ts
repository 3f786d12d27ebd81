export const VIEWS = ["run", "feedback", "metadata", "raw"] as const;
export type View = (typeof VIEWS)[number];

/** What the address leaves out. */
export const TRACE_SEARCH: { view: View } = { view: "run" };

/** Which side of a run is shown. */
export const readTraceSearch = ({ view }: { view?: unknown }): { view?: View } => ({
  view: VIEWS.includes(view as View) ? (view as View) : "run",
});
