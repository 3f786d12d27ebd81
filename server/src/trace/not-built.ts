/**
 * Endpoints of the vendor's tracing service that are missing here, with an explanation of what to use instead. Paths
 * are those of the contract without `/api/v1`, `/v1` and `/platform`; those of v2 begin with `/v2`.
 */
const NOT_BUILT: [path: RegExp, detail: string][] = [
  [
    /^\/(repos|commits|likes|comments|prompts|prompt-webhooks|hub|playground-settings)(\/|$)/,
    "Heddle has no prompt hub and no playground for prompts. Keep prompts in the project's repository.",
  ],
  [
    /^\/annotation-queues(\/|$)/,
    "Heddle has no annotation queues. Select runs by a filter (POST /api/v1/runs/query) and rate them by feedback " +
      "(POST /api/v1/feedback), or collect ratings by links (POST /api/v1/feedback/tokens).",
  ],
  [
    /^\/(evaluators|ace)(\/|$)/,
    "Heddle does not run evaluators. Run them in evaluate() of the SDK, and store results by POST /api/v1/feedback.",
  ],
  [
    /^\/(runs\/rules|v2\/runs\/rules)(\/|$)/,
    "Heddle has no automation rules. Query new runs by a filter (POST /api/v1/runs/query) from a cron.",
  ],
  [
    /^\/(charts|org-charts)(\/|$)|^\/sessions\/[^/]+\/(dashboard|views|insights)(\/|$)/,
    "Heddle stores no charts. Get their figures by POST /api/v1/runs/stats and /api/v1/runs/stats/timeline; the " +
      "console shows them on a project's page.",
  ],
  [/^\/alerts(\/|$)/, "Heddle sends no alerts on traces. Alert on GET /metrics, or poll POST /api/v1/runs/stats."],
  [
    /^\/usage-limits(\/|$)/,
    "Heddle has no usage limits on traces. Limit requests by HEDDLE_RATE_LIMITS (docs/settings.md).",
  ],
  [
    /^\/(runs\/generate-query|v2\/ai-search)(\/|$)/,
    "Heddle does not translate natural language to filters. Write the filter: docs/filter-language.md.",
  ],
  [
    /^\/datasets\/[^/]+\/(generate|group\/runs|runs\/delta)(\/|$)|^\/datasets\/(upload-experiment|playground_experiment|studio_experiment|stream)(\/|$)/,
    "Heddle does not implement this operation on datasets. Create examples by POST /api/v1/examples/bulk, and read " +
      "experiments by POST /api/v1/datasets/{dataset_id}/runs.",
  ],
  [
    /^\/v2\/sessions(\/|$)/,
    "Heddle serves projects in version 1 of the API: /api/v1/sessions, by id or with name= in the query.",
  ],
  [/^\/v2\/datasets$/, "Heddle serves datasets in version 1 of the API: /api/v1/datasets."],
  [
    /^\/v2\/threads\/stats$/,
    "Heddle has no statistics over all threads in version 2. Use POST /api/v1/runs/group/stats, or GET " +
      "/api/v2/threads/{thread_id}/stats for one thread.",
  ],
  [
    /^\/v2\/threads\/[^/]+\/share$/,
    "Heddle shares traces, not threads. Share each turn by POST /api/v2/runs/{run_id}/share.",
  ],
  [
    /^\/(mcp|fleet|tools|agent-builder|issues|issues-agent|v2\/sandboxes|v2\/sql|gateway-policies)(\/|$)/,
    "Heddle does not implement this part of the vendor's service. GET /openapi.json lists what it serves.",
  ],
];

/** Returns the explanation for a path; undefined when there is none. */
export function explainMissingTrace(path: string): string | undefined {
  const bare = path
    .replace(/\/$/, "")
    .replace(/^\/api(?=\/)/, "")
    .replace(/^\/v1(?=\/)/, "")
    .replace(/^\/platform(?=\/)/, "");
  return NOT_BUILT.find(([pattern]) => pattern.test(bare))?.[1];
}
