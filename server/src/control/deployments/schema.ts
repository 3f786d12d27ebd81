import { z } from "zod";

import { STATUSES } from "../revisions/status.ts";
import { queryBoolean, queryLimit, queryNotBuilt, queryOffset, storableText, uuid } from "../../base/http/fields.ts";

/**
 * Bodies of deployments and revisions, as LangSmith's control plane has them. Unknown keys are ignored: newer clients
 * send more.
 */

export const SOURCES = [
  "github",
  "external_docker",
  "internal_docker",
  "internal_source",
  "internal_template",
] as const;
export type Source = (typeof SOURCES)[number];

const DEPLOYMENT_STATUSES = ["AWAITING_DATABASE", "READY", "UNUSED", "AWAITING_DELETE", "UNKNOWN"] as const;
export type DeploymentStatus = (typeof DEPLOYMENT_STATUSES)[number];

const short = storableText.max(1000);
const count = (min: number, max: number) => z.int().min(min).max(max).nullish();
/** Cores, rounded to a tenth. */
const cpu = (max: number) =>
  z
    .number()
    .min(0.1)
    .max(max)
    .overwrite((cores) => Math.round(cores * 10) / 10)
    .nullish();
const megabytes = count(128, 1_048_576);

/** Other fields are kept for drivers that support them, such as Kubernetes' own, or rejected by name (validate.ts). */
const resourceSpec = z
  .looseObject({
    min_scale: count(0, 100),
    max_scale: count(0, 100),
    cpu: cpu(8),
    cpu_limit: cpu(16),
    memory_mb: megabytes,
    memory_limit_mb: megabytes,
    image_pull_secrets: z
      .array(z.looseObject({ name: z.string() }))
      .max(20)
      .nullish(),
  })
  .meta({ id: "ResourceSpec" });
export type ResourceSpec = z.output<typeof resourceSpec>;

const sourceConfig = z
  .object({
    integration_id: uuid.nullish(),
    repo_url: short.nullish(),
    deployment_type: z.enum(["dev_free", "dev", "prod", "dev_zero", "dev_free_zero"]).nullish(),
    build_on_push: z.boolean().nullish(),
    custom_url: short.nullish(),
    resource_spec: resourceSpec.nullish(),
    listener_id: uuid.nullish(),
    listener_config: z.looseObject({ k8s_namespace: short.nullish() }).nullish(),
    install_command: short.nullish(),
    build_command: short.nullish(),
    template_id: short.nullish(),
    repo_branch: short.nullish(),
  })
  .meta({ id: "SourceConfig" });
export type SourceConfig = z.output<typeof sourceConfig>;

const sourceRevisionConfig = z
  .object({
    repo_ref: short.nullish(),
    langgraph_config_path: short.nullish(),
    graph_config_path: short.nullish(),
    image_uri: short.nullish(),
    source_tarball_path: short.nullish(),
    repo_commit_sha: short.nullish(),
  })
  .meta({ id: "SourceRevisionConfig" });
export type SourceRevisionConfigIn = z.output<typeof sourceRevisionConfig>;

const secret = z.object({ name: z.string(), value: storableText.max(1_000_000) });
export type Secret = z.output<typeof secret>;

const secretReference = z.object({ name: short, secret_name: short, secret_key: short });

const secrets = z.array(secret).max(1000);
const secretReferences = z.array(secretReference).max(1000);

export const createBody = z.object({
  name: storableText.max(1000),
  source: z.enum(SOURCES),
  source_config: sourceConfig,
  source_revision_config: sourceRevisionConfig,
  secrets,
  secret_references: secretReferences.nullish(),
});
export type CreateBody = z.output<typeof createBody>;

export const revisionBody = z.object({
  revision_source: z.enum(["github", "internal_docker", "internal_source"]).nullish(),
  source_config: sourceConfig.nullish(),
  source_revision_config: sourceRevisionConfig.nullish(),
  secrets: secrets.nullish(),
  clear_secrets: z
    .boolean()
    .nullish()
    .describe("Removes all secrets when no secrets are given; without it, an empty list of secrets keeps them"),
  secret_references: secretReferences.nullish(),
});
export type RevisionBody = z.output<typeof revisionBody>;

export const patchBody = revisionBody.extend({
  display_name: storableText.min(1).max(200).nullish(),
  name: storableText.max(1000).nullish(),
  source: z.enum(SOURCES).nullish(),
});
export type PatchBody = z.output<typeof patchBody>;

export const deploymentParams = z.object({ deployment_id: uuid });

const uuidList = z
  .string()
  .transform((text) => text.split(",").map((part) => part.trim()))
  .pipe(z.array(uuid).max(100))
  .optional();

export const listQuery = z.object({
  limit: queryLimit(20, 100),
  offset: queryOffset,
  name: storableText.optional(),
  name_contains: storableText.optional(),
  status: z.enum(DEPLOYMENT_STATUSES).optional(),
  deployment_ids: uuidList,
  deployment_type: storableText.optional(),
  image_version: storableText.optional(),
  remote_reconciled: queryBoolean,
  tag_value_ids: queryNotBuilt("tag_value_ids"),
  agent_id: queryNotBuilt("agent_id"),
  agent_environment: queryNotBuilt("agent_environment"),
});
export type ListQuery = z.output<typeof listQuery>;

export const deleteManyQuery = z.object({
  deployment_ids: z.union([uuid, z.array(uuid).min(1).max(100)]).transform((value) => [value].flat()),
});

const flagText = z.enum(["true", "false", "1", "0", "True", "False"]).optional();
export const deleteQuery = z.object({ delete_tracing_project: flagText, force: flagText });

const text = z.string().nullable();

const sourceConfigOut = z
  .object({
    integration_id: text,
    repo_url: text,
    deployment_type: text,
    build_on_push: z.boolean().nullable(),
    custom_url: text.describe("URL of the deployment"),
    resource_spec: z.record(z.string(), z.unknown()).nullable(),
    listener_id: text,
    listener_config: z.record(z.string(), z.unknown()).nullable(),
    install_command: text,
    build_command: text,
    template_id: text,
    repo_branch: text,
  })
  .meta({ id: "SourceConfigOut" });

export const sourceRevisionConfigOut = z
  .object({
    repo_ref: text,
    langgraph_config_path: text,
    graph_config_path: text.describe("Alias of langgraph_config_path"),
    image_uri: text,
    source_tarball_path: text,
    repo_commit_sha: text,
  })
  .meta({ id: "SourceRevisionConfigOut" });

export const deployment = z
  .object({
    id: z.string(),
    tenant_id: z.string(),
    name: z.string(),
    display_name: text,
    source: z.enum(SOURCES),
    source_config: sourceConfigOut,
    source_revision_config: sourceRevisionConfigOut,
    secrets: z.array(z.object({ name: z.string(), value: z.string() })),
    secret_references: z.array(secretReference).nullable(),
    created_at: z.string(),
    updated_at: z.string(),
    status: z.enum(DEPLOYMENT_STATUSES),
    latest_revision_id: text,
    latest_revision_status: z
      .enum(STATUSES)
      .nullable()
      .describe("Of the latest revision, which may have failed while an earlier one serves"),
    latest_revision_number: z.int().nullable(),
    latest_revision_message: text.describe("Why the latest revision failed, or what it waits for"),
    active_revision_id: text,
    active_revision_number: z.int().nullable(),
    image_version: text,
    is_preview: z.boolean(),
  })
  .meta({ id: "Deployment" });
export type Deployment = z.output<typeof deployment>;

export const deploymentsList = z.object({ resources: z.array(deployment), offset: z.int() });

export const deletedMany = z.object({
  deleted: z.array(z.string()),
  failed: z.array(z.object({ id: z.string(), detail: z.string() })),
});
