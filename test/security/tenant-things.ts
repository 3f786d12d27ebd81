import { type Callable, createCaller } from "../../server/test/call.ts";
import { createArchive, createDeployment, deployArchive, untilStatus } from "../../server/test/deploy.ts";
import { testS3, type TestS3 } from "../../server/test/s3.ts";
import { until } from "../../server/test/until.ts";

/** Marker in everything that tenant A writes; it must not appear in anything that B reads. */
export const MARK = "of-tenant-A-alone";

/** Manifest of a prompt with one variable. */
const PROMPT = {
  lc: 1,
  type: "constructor",
  id: ["langchain_core", "prompts", "prompt", "PromptTemplate"],
  kwargs: { template: "{text}", input_variables: ["text"], template_format: "f-string" },
};

/** Creates one of every object a tenant can have on the trace platform; returns ids by parameter name. */
export async function fillTenant(
  app: Callable,
  headers: Record<string, string>,
  workspaceId: string,
  { mark = MARK, s3 }: { mark?: string; s3?: TestS3 } = {},
): Promise<Record<string, string[]>> {
  async function ask(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const response = await app.request(path, {
      method,
      headers: { ...headers, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
  }
  const createdId = async (...args: Parameters<typeof ask>) => String((await ask(...args))["id"]);

  const now = new Date().toISOString();
  const run = crypto.randomUUID();
  const dotted = `${now.replaceAll(/[-:.]/g, "").replace("Z", "000Z")}${run}`;
  const text = { inputs: { text: mark }, outputs: { text: mark } };
  const traced = { id: run, trace_id: run, name: mark, run_type: "chain", start_time: now, end_time: now, ...text };
  const thread = crypto.randomUUID();
  const extra = { metadata: { thread_id: thread } };
  await ask("POST", "/api/v1/runs/batch", { post: [{ ...traced, extra, dotted_order: dotted, session_name: mark }] });
  const dataset = await createdId("POST", "/api/v1/datasets", { name: mark, description: mark });
  const example = await createdId("POST", "/api/v1/examples", { dataset_id: dataset, ...text });
  const experiments: string[] = [];
  for (const name of [`${mark} 1`, `${mark} 2`]) {
    experiments.push(await createdId("POST", "/api/v1/sessions", { name, reference_dataset_id: dataset }));
  }
  const comparison = await createdId("POST", "/api/v1/datasets/comparative", {
    experiment_ids: experiments,
    reference_dataset_id: dataset,
    name: mark,
  });
  const viewOverride = await createdId("POST", `/api/v1/datasets/${dataset}/experiment-view-overrides`, {
    column_overrides: [{ column: `metadata.${mark}`, hide: true }],
  });
  const { share_token: share } = await ask("PUT", `/api/v1/datasets/${dataset}/share`);
  const feedback = await createdId("POST", "/api/v1/feedback", { run_id: run, key: "a-key", score: 1, comment: mark });
  const token = await ask("POST", "/api/v1/feedback/tokens", { run_id: run, feedback_key: "a-key" });
  const store = s3 ?? (await testS3());
  store.createBucket("exports");
  const destination = await createdId("POST", "/api/v1/bulk-exports/destinations", {
    display_name: mark,
    config: { bucket_name: "exports", prefix: mark, endpoint_url: store.endpoint },
    credentials: store.createKey(),
  });
  const exported = await createdId("POST", "/api/v1/bulk-exports", {
    bulk_export_destination_id: destination,
    session_id: experiments[0],
    start_time: new Date(Date.now() - 3_600_000).toISOString(),
    end_time: now,
  });
  // it must not change by itself while the other tenants try
  await until(async () => (await ask("GET", `/api/v1/bulk-exports/${exported}`))["status"] === "COMPLETED");
  const held = await createdId("POST", "/api/v1/sessions", { name: `${mark} held` });
  const hold = await createdId("POST", "/api/v1/legal-holds", { session_id: held, reason: mark });
  // its files leave the disk only with the next sweep, so that it does not change by itself
  const doomed = await createdId("POST", "/api/v1/sessions", { name: `${mark} doomed` });
  const { erasure_id: erasure } = await ask("DELETE", `/api/v1/sessions/${doomed}`);
  const key = await createdId("POST", "/api/v1/api-key", { description: mark });
  const role = await createdId("POST", "/api/v1/orgs/current/roles", {
    display_name: mark,
    description: mark,
    permissions: [],
  });
  // handles begin with a letter and are compared in answers like ids
  const nameLikeId = () => `a${crypto.randomUUID().slice(1)}`;
  const [owner, prompt, agent, tag] = [nameLikeId(), nameLikeId(), nameLikeId(), nameLikeId()];
  await ask("POST", "/api/v1/settings/handle", { tenant_handle: owner });
  const repo = { description: mark, readme: mark, tags: [mark], is_public: false };
  const { repo: created } = await ask("POST", "/api/v1/repos", { ...repo, repo_handle: prompt });
  await ask("POST", "/api/v1/repos", { ...repo, repo_handle: agent, repo_type: "agent" });
  const files = { "notes.md": { type: "file", content: mark } };
  await ask("POST", `/v1/platform/hub/repos/-/${agent}/directories/commits`, { files });
  const commit = (await ask("POST", `/commits/-/${prompt}`, { manifest: { mark }, description: mark }))[
    "commit"
  ] as Record<string, string>;
  await ask("POST", `/api/v1/repos/-/${prompt}/tags`, { tag_name: tag, commit_id: commit["id"] });
  const environments = await createdId("POST", "/api/v1/hub/environments", { environments: [{ name: mark }] });
  await ask("POST", "/api/v1/workspaces/current/secrets", [{ key: "OPENAI_API_KEY", value: mark }]);
  const connection = await createdId("POST", "/api/v1/models/connections", {
    name: mark,
    provider: "openai",
    settings: { base_url: `https://${mark.toLowerCase()}.example/v1` },
    default_model: mark,
  });
  await ask("PUT", "/api/v1/models/budget", { limit_usd: 0 });
  // the budget of 0 stops it at once, so that it does not change by itself
  const experimentRun = await createdId("POST", "/api/v1/experiments/runs", {
    name: `${mark} run`,
    dataset_id: dataset,
    target: { type: "prompt", manifest: PROMPT, model: { connection_id: connection, model: "gpt-4o-mini" } },
  });
  await until(async () => (await ask("GET", `/api/v1/experiments/runs/${experimentRun}`))["status"] === "stopped");
  const webhook = await createdId("POST", "/api/v1/prompt-webhooks", {
    url: `https://hooks.example/${encodeURIComponent(mark)}`,
    triggers: ["commit"],
  });
  const playground = await createdId("POST", "/api/v1/playground-settings", { name: mark, settings: { mark } });
  const queue = await createdId("POST", "/api/v1/annotation-queues", { name: mark, description: mark });
  const [item] = (await ask("POST", `/api/v1/annotation-queues/${queue}/runs`, [run])) as unknown as { id: string }[];
  const masking = await createdId("POST", "/api/v1/masking-rules", { name: mark, is_enabled: false, pattern: mark });
  const section = await createdId("POST", "/api/v1/charts/section", { title: mark });
  const chart = await createdId("POST", "/api/v1/charts/create", {
    title: mark,
    chart_type: "line",
    section_id: section,
    series: [{ name: mark, metric: "run_count", filters: { session: experiments } }],
  });
  const rule = await createdId("POST", "/api/v1/runs/rules", {
    display_name: mark,
    sampling_rate: 1,
    transient: true,
    backfill_from: new Date(Date.now() - 60_000).toISOString(),
  });
  const alert = (await ask("POST", "/v1/platform/alerts/all", {
    rule: {
      name: mark,
      type: "threshold",
      attribute: "error_count",
      aggregation: "sum",
      operator: "gt",
      threshold: 1e9,
      window_minutes: 5,
      enabled: false,
    },
    actions: [],
  })) as { rule: { id: string } };
  const budget = await createdId("POST", "/v1/platform/budgets", { name: mark, limit_usd: 1e9, enabled: false });
  const judged = await ask("POST", "/v1/platform/evaluators", {
    name: mark,
    type: "code",
    description: mark,
    code_evaluator: { language: "javascript", code: `function performEval() { return "${mark}" }` },
  });
  const insights = `/api/v1/sessions/${experiments[0]}/insights`;
  const view = await createdId("POST", `/api/v1/sessions/${experiments[0]}/views`, {
    display_name: mark,
    filter_string: `eq(name, "${mark}")`,
  });
  const tagKey = await createdId("POST", "/api/v1/workspaces/current/tag-keys", { key: mark });
  const tagValue = await createdId("POST", `/api/v1/workspaces/current/tag-keys/${tagKey}/tag-values`, { value: mark });
  const tagging = await createdId("POST", "/api/v1/workspaces/current/taggings", {
    tag_value_id: tagValue,
    resource_type: "dataset",
    resource_id: dataset,
  });
  const config = await createdId("POST", `${insights}/configs`, { name: mark, config: {} });
  // of a period without runs, so that no model is called
  const past = { start_time: "2001-01-01T00:00:00Z", end_time: "2001-01-02T00:00:00Z" };
  const job = await createdId("POST", insights, { ...past, name: mark, connection_id: connection });
  await until(async () => (await ask("GET", `${insights}/${job}`))["status"] === "error");
  const backfillsOf = async () =>
    (await ask("GET", `/api/v1/runs/rules/${rule}/backfills`)) as unknown as { backfill_id: string; status: string }[];
  await until(async () => (await backfillsOf())[0]!.status === "completed");
  const [backfill] = await backfillsOf();
  const invitation = await ask("POST", "/api/v1/orgs/current/members", { email: `${mark.toLowerCase()}@a.example` });
  return {
    run_id: [run],
    trace_id: [run],
    id: [run],
    thread_id: [thread],
    session_id: experiments,
    session: experiments,
    project_id: experiments,
    experiment_id: experiments,
    experiment_run_id: [experimentRun],
    comparative_experiment_id: [comparison],
    override_id: [viewOverride],
    evaluator_id: [(judged["evaluator"] as { id: string }).id],
    queue_id: [queue],
    rule_id: [rule, masking],
    section_id: [section],
    chart_id: [chart],
    alert_rule_id: [alert.rule.id],
    budget_id: [budget],
    view_id: [view],
    tag_key_id: [tagKey],
    tag_value_id: [tagValue],
    tagging_id: [tagging],
    backfill_id: [backfill!.backfill_id],
    queue_run_id: [item!.id],
    annotation_queue_run_id: [item!.id],
    queue_item_id: [item!.id],
    item_id: [item!.id],
    dataset_id: [dataset],
    dataset: [dataset],
    example_id: [example],
    share_token: [String(share)],
    feedback_id: [feedback],
    token: [String(token["id"])],
    destination_id: [destination],
    bulk_export_id: [exported],
    bulk_export_destination_id: [destination],
    erasure_id: [String(erasure)],
    hold_id: [hold],
    api_key_id: [key],
    key_id: [key],
    pat_id: [key],
    role_id: [role],
    owner: [owner],
    tenant_handle: [owner],
    upstream_repo_owner: [owner],
    repo: [prompt, agent],
    upstream_repo_handle: [prompt],
    repo_id: [String((created as { id: string }).id)],
    commit: [commit["commit_hash"]!],
    parent_commit: [commit["commit_hash"]!],
    commit_id: [commit["id"]!],
    tag_name: [tag],
    environments_id: [environments],
    connection_id: [connection],
    config_id: [config],
    job_id: [job],
    playground_settings_id: [playground],
    webhook_id: [webhook],
    identity_id: [String(invitation["id"])],
    workspace_id: [workspaceId],
    tenant_id: [workspaceId],
  };
}

/** Creates a tenant's deployment on the control plane, with a revision that has ended. */
export async function fillDeployments(
  app: Callable,
  headers: Record<string, string>,
  mark = MARK,
): Promise<Record<string, string[]>> {
  const call = createCaller(app);
  const callAsTenant: typeof call = (method, path, body, more) => call(method, path, body, { ...headers, ...more });
  const deployment = await createDeployment(callAsTenant, mark.toLowerCase(), [{ name: "TOKEN", value: mark }]);
  // the archive contains no project, so that nothing runs while the other tenants try
  const archive = createArchive({ "readme.md": mark });
  const revision = await deployArchive(callAsTenant, deployment, archive, { display_name: mark });
  await untilStatus(callAsTenant, deployment, revision, "BUILD_FAILED");
  const integration = await callAsTenant("POST", "/v2/integrations/git", {
    name: mark,
    url: `https://${mark}.example`,
  });
  const listener = await callAsTenant("POST", "/v2/listeners", {
    compute_type: "k8s",
    compute_id: mark,
    compute_config: { k8s_namespaces: [mark] },
  });
  // deployments use both, so that requests that are rejected for that reason would show that they exist
  const user = await callAsTenant("POST", "/v2/deployments", {
    name: "user-of-a",
    source: "internal_source",
    source_config: { deployment_type: "dev", listener_id: listener.json.id, integration_id: integration.json.id },
    source_revision_config: {},
    secrets: [],
  });
  if (user.status !== 201) throw new Error(user.text);
  // its database is created in the background; afterwards nothing changes it by itself
  await until(async () => (await callAsTenant("GET", `/v2/deployments/${user.json.id}`)).json.status === "READY");
  return {
    deployment_id: [deployment],
    revision_id: [revision],
    integration_id: [String(integration.json.id)],
    listener_id: [String(listener.json.id)],
  };
}
