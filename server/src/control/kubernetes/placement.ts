import type { SourceConfig } from "../deployment-records/schema.ts";

/** The control plane's own cluster, in `revisions.cluster`. */
export const OWN_CLUSTER = "own";

/** Returns where a revision is to run: null on the platform's machines, `own`, or the id of a listener. */
export const placement = (
  { driver }: { driver: "process" | "container" | "kubernetes" },
  { listener_id: listener }: SourceConfig,
): string | null => listener ?? (driver === "kubernetes" ? OWN_CLUSTER : null);
