const PANELS = ["graph", "steps", "agents", "setup"] as const;

export interface PlaygroundSearch {
  /** Id of an assistant, or of a graph. */
  assistant?: string;
  thread?: string;
  checkpoint?: string;
  panel?: (typeof PANELS)[number];
  /** Id of the second assistant of a comparison, and its thread. */
  versus?: string;
  beside?: string;
}

/** Reads the playground's search parameters; unknown ones are dropped. */
export function readPlace(search: Record<string, unknown>): PlaygroundSearch {
  const { assistant, thread, checkpoint, versus, beside } = search;
  const panel = PANELS.find((name) => name === search["panel"]);
  return {
    ...(typeof assistant === "string" && { assistant }),
    ...(typeof thread === "string" && { thread }),
    ...(typeof thread === "string" && typeof checkpoint === "string" && { checkpoint }),
    ...(panel && { panel }),
    ...(typeof versus === "string" && { versus }),
    ...(typeof versus === "string" && typeof beside === "string" && { beside }),
  };
}
