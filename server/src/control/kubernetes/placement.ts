import type { SourceConfig } from "../deployments/schema.ts";

/** Value of `revisions.cluster` for the control plane's own cluster. */
export const OWN_CLUSTER = "own";

/** Value of `instances.place` for pods of a cluster. */
export const clusterPlace = (cluster: string): string => `cluster:${cluster}`;

/** Returns where a revision runs: null for the control plane's machine, `own`, or the id of a listener. */
export const placement = (
  { driver }: { driver: "process" | "container" | "kubernetes" },
  { listener_id: listener }: SourceConfig,
): string | null => listener ?? (driver === "kubernetes" ? OWN_CLUSTER : null);
