const PANELS = ["graph", "steps", "setup"] as const;

export interface PlaygroundSearch {
  /** Id of an assistant, or of a graph. */
  assistant?: string;
  thread?: string;
  checkpoint?: string;
  panel?: (typeof PANELS)[number];
}

/** Reads the playground's search parameters; unknown ones are dropped. */
export function readPlace(search: Record<string, unknown>): PlaygroundSearch {
  const { assistant, thread, checkpoint } = search;
  const panel = PANELS.find((name) => name === search["panel"]);
  return {
    ...(typeof assistant === "string" && { assistant }),
    ...(typeof thread === "string" && { thread }),
    ...(typeof thread === "string" && typeof checkpoint === "string" && { checkpoint }),
    ...(panel && { panel }),
  };
}
