/**
 * Endpoints of the vendor's tracing service that are missing here, with an explanation of what to use instead. Paths
 * are those of the contract without `/api/v1`, `/v1` and `/platform`, or with `/platform` where only those are missing;
 * those of v2 begin with `/v2`. An entry with a method concerns only that one. Entries are matched before the routes,
 * whose parameters would otherwise match some of them: no route may have a path of this table.
 */
const NOT_BUILT: [path: RegExp, detail: string, method?: string][] = [
  [
    /^\/(likes|comments)(\/|$)/,
    "Heddle keeps no likes of prompts and no comments on them. Describe a prompt in its README (PATCH " +
      "/api/v1/repos/{owner}/{repo}), and a change in the description of its commit.",
  ],
  [
    /^\/repos\/(optimize-job$|[^/]+\/[^/]+\/optimization-jobs(\/|$))/,
    "Heddle does not optimize prompts. Evaluate variants by evaluate() of the SDK, and commit the best by POST " +
      "/api/v1/commits/{owner}/{repo}.",
  ],
  [
    /^\/repos\/[^/]+\/[^/]+\/owners$/,
    "Prompts of Heddle belong to their workspace and have no further owners. Permissions come from roles: GET " +
      "/api/v1/orgs/current/roles.",
  ],
  [/^\/prompts\/canvas(\/|$)/, "Heddle edits prompts in the console and runs none by this path."],
  [/^\/v2\/runs\/rules(\/|$)/, "Heddle serves automation rules under /api/v1/runs/rules."],
  [
    /^\/runs\/rules\/decision-models$/,
    "Heddle has no decision models. Its judges are prompts of a model with scores: POST /v1/platform/evaluators.",
  ],
  [/^\/ace(\/|$)/, "Heddle runs code of evaluators by POST /v1/platform/evaluators/try only."],
  [
    /^\/platform\/annotation-queues\/[^/]+\/items\/[^/]+\/finals(\/|$)/,
    "Heddle keeps no final answers of annotation queues beside its reviewers' feedback. Read their agreement by GET " +
      "/api/v1/annotation-queues/{queue_id}/agreement, and correct feedback by PATCH /api/v1/feedback/{feedback_id}.",
  ],
  [
    /^\/orgs\/current\/dashboard$/,
    "Heddle has no dashboards of usage and invoices to embed. Use /api/v1/org-charts/section.",
  ],
  [
    /^\/sessions\/[^/]+\/(issues|agent-versions)(\/|$)/,
    "Heddle has no such part of a project. Its dashboard is POST /api/v1/sessions/{session_id}/dashboard, its " +
      "statistics are POST /api/v1/runs/stats.",
  ],
  [
    /^\/usage-limits(\/|$)|^\/workspaces\/current\/usage_limits$/,
    "Heddle has no usage limits on traces. Limit requests by HEDDLE_RATE_LIMITS (docs/settings.md).",
  ],
  [
    /^\/(runs\/generate-query|v2\/ai-search)(\/|$)/,
    "Heddle does not translate natural language to filters. Write the filter: docs/filter-language.md.",
  ],
  [
    /^\/datasets\/(studio_experiment|stream)$/,
    "Heddle does not implement this operation on datasets. Create examples by POST /api/v1/examples/bulk, and read " +
      "experiments by POST /api/v1/datasets/{dataset_id}/runs.",
  ],
  [
    /^\/public\/[^/]+\/(examples\/runs(\/|$)|datasets\/(feedback$|runs\/(?!delta(\/|$))))/,
    "Heddle shares a dataset's examples and experiments, not their runs. Share a run by PUT /api/v1/runs/{run_id}/share.",
  ],
  [
    /^\/public\/download(\/|$)/,
    "Heddle serves no public downloads under this path. Files of runs and examples have signed links " +
      "(/api/v1/attachments/{token}), which GET /api/v1/runs/{run_id} and GET /api/v1/examples/{example_id} return.",
  ],
  [
    /(^|\/)metadata\/submit$/,
    "Heddle takes no usage reports of other installations. The metadata of runs is part of the runs " +
      "(extra.metadata of POST /api/v1/runs).",
  ],
  [
    /^\/public\/schemas(\/|$)/,
    "Heddle publishes no JSON schemas of messages and tools; GET /openapi.json has its own.",
  ],
  [
    /^\/sessions\/resolutions$/,
    "Heddle does not resolve addresses to projects. Find a project by GET /api/v1/sessions?name=….",
  ],
  [
    /^\/workspaces\/current\/secrets\/encrypted$/,
    "Heddle hands out no values of workspace secrets, encrypted or not. Their keys are listed by GET " +
      "/api/v1/workspaces/current/secrets.",
  ],
  [
    /^\/workspaces\/current\/(stats|shared)$|^\/metrics\/queue(\/|$)/,
    "Heddle has no such overview. Use POST /api/v1/runs/stats, GET /api/v1/runs/{run_id}/share and GET /metrics.",
  ],
  [
    /^\/(orgs|workspaces\/current)?\/?ttl-settings$/,
    "Retention is set per project (retention_days or trace_tier of PATCH /api/v1/sessions/{session_id}) and for the " +
      "installation (HEDDLE_RETENTION_LONGLIVED_DAYS, HEDDLE_RETENTION_SHORTLIVED_DAYS).",
  ],
  [
    /^\/orgs\/(current\/(setup|billing|payment-method|business-info|plan|stripe_checkout_session|stripe_account_links|data-planes)|pending)(\/|$)|^\/(aws-marketplace|beacon|nps|ops)(\/|$)/,
    "Heddle has no billing and no plans to buy. Organizations are read by GET /api/v1/orgs, limits are set by " +
      "HEDDLE_RATE_LIMITS.",
  ],
  [
    /^\/orgs\/(current\/(sso-settings|login-methods|user\/login-methods|set-default-sso-provision|scim)|members\/basic|current\/members\/basic\/batch)(\/|$)|^\/sso(\/|$)/,
    "Heddle signs users in with a password (heddle users create) or through one OpenID provider (HEDDLE_OIDC_ISSUER); " +
      "there is no SAML and no SCIM. Programs use API keys: POST /api/v1/api-key.",
  ],
  [
    /^\/orgs\/current\/access-policies(\/|$)/,
    "Heddle has no access policies. Permissions come from roles: GET /api/v1/orgs/current/roles.",
  ],
  [
    /^\/workspaces\/(pending|current\/members\/(batch|[^/]+\/pending))(\/|$)/,
    "Heddle adds members to workspaces one at a time: POST /api/v1/workspaces/current/members.",
  ],
  [
    /^\/orgs$/,
    "Heddle creates no organizations by request: an installation has those of its settings. Create a workspace: POST " +
      "/api/v1/workspaces or heddle workspaces create.",
    "POST",
  ],
  [
    /^\/platform\/orgs\/current\/(info|members)$/,
    "Heddle serves organizations in version 1 of the API: /api/v1/orgs/current/info and /api/v1/orgs/current/members.",
  ],
  [
    /^\/feedback\/formulas\/[^/]+$/,
    "Feedback formulas are no longer part of the API. Compute scores in the client, and store them by POST " +
      "/api/v1/feedback.",
  ],
  [
    /^\/service-accounts(\/|$)/,
    "Heddle has no service accounts. Create a service key: POST /api/v1/orgs/current/service-keys or heddle keys create.",
  ],
  [
    /^\/(me\/(onboarding_state|ls_user_id|providers)|features)(\/|$)/,
    "Heddle keeps no such settings of a user. GET /api/v1/settings returns the workspace of a key.",
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
    /^\/(mcp\/.+|mcp-vendors|fleet|fleet-webhooks|tools|agents|agent-builder|issues|issues-agent|v2\/sandboxes|v2\/sql|gateway-policies|execute|checkpoint|download|upload)(\/|$)|^\/sessions\/[^/]+\/issues-agent$|^\/auth\/sandbox-access$/,
    "Heddle does not implement this part of the vendor's service. GET /openapi.json lists what it serves.",
  ],
];

/** Returns the explanation for a path; undefined when there is none. */
export function explainMissingTrace(path: string, method: string): string | undefined {
  const full = path
    .replace(/\/$/, "")
    .replace(/^\/api(?=\/)/, "")
    .replace(/^\/v1(?=\/)/, "");
  const bare = full.replace(/^\/platform(?=\/)/, "");
  const entry = NOT_BUILT.find(
    ([pattern, , only]) => (only === undefined || only === method) && (pattern.test(bare) || pattern.test(full)),
  );
  return entry?.[1];
}
