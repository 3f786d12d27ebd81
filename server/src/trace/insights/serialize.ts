import type { ClusterRow } from "./cluster-sql.ts";
import type { ConfigRow } from "./config-sql.ts";
import type { JobRow } from "./sql.ts";

/** Status as the clients know it: they wait until it is `success` or `error`. */
export const statusOf = ({ state }: Pick<JobRow, "state">): string =>
  state === "stopped" || state === "cancelled" ? "error" : state;

export function jobToWire(row: JobRow) {
  const { started_at, ended_at, state, reason, error, stage, sampled, summarized, embedded, clusters, named } = row;
  const stopped = state === "stopped" ? `stopped: ${reason}. ${error ?? ""}`.trim() : null;
  return {
    id: row.id,
    name: row.name,
    status: statusOf(row),
    state,
    stop_reason: reason,
    start_time: started_at,
    end_time: ended_at,
    created_at: row.created_at,
    metadata: {},
    shape: row.shape,
    error: stopped ?? (state === "cancelled" ? "cancelled" : error),
    config_id: row.config_id,
    options: { ...row.options } as Record<string, unknown>,
    population: row.population,
    population_failed: row.population_failed,
    sampled,
    budget_usd: row.budget_usd,
    spent_usd: row.spent_usd,
    calls: row.calls,
    tokens: row.tokens,
    progress: { stage, sampled: sampled ?? 0, summarized, embedded, clusters, named },
  };
}

export const clusterToWire = ({ place: _place, is_leaf: _leaf, ...rest }: ClusterRow) => ({
  ...rest,
  stats: { ...rest.stats } as Record<string, unknown>,
});

/** Fields that the clients' model of a config requires, null where they are not set. */
export const configToWire = ({ config, ...rest }: ConfigRow) => ({
  ...rest,
  config: {
    hierarchy: null,
    partitions: null,
    sample: null,
    summary_prompt: null,
    filter: null,
    attribute_schemas: null,
    model: "openai",
    ...config,
    name: (config["name"] as string | undefined) ?? rest.name,
  },
  prebuilt: false,
  schedule_cron: null,
});
