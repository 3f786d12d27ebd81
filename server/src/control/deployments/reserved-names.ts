/** Variables that the platform sets itself; secrets with these names are rejected. */
const ALWAYS =
  "LANGCHAIN_TRACING_V2 LANGSMITH_TRACING_V2 LANGCHAIN_ENDPOINT LANGCHAIN_PROJECT LANGSMITH_PROJECT " +
  "LANGSMITH_LANGGRAPH_GIT_REPO LANGGRAPH_GIT_REPO_PATH LANGCHAIN_API_KEY LANGGRAPH_HOST_API_KEY " +
  "LANGSMITH_CONTROL_PLANE_API_KEY POSTGRES_URI POSTGRES_PASSWORD DATABASE_URI LANGSMITH_LANGGRAPH_GIT_REF " +
  "LANGSMITH_LANGGRAPH_GIT_REF_SHA LANGGRAPH_AUTH_TYPE LANGSMITH_AUTH_ENDPOINT LANGSMITH_TENANT_ID " +
  "LANGSMITH_AUTH_VERIFY_TENANT_ID LANGSMITH_HOST_PROJECT_ID LANGSMITH_HOST_PROJECT_NAME LANGSMITH_HOST_REVISION_ID " +
  "LOG_JSON LOG_DICT_TRACEBACKS REDIS_URI LANGCHAIN_CALLBACKS_BACKGROUND DD_TRACE_PSYCOPG_ENABLED " +
  "DD_TRACE_REDIS_ENABLED LANGSMITH_DEPLOYMENT_NAME LANGGRAPH_CLOUD_LICENSE_KEY";

const IN_THE_CLOUD =
  "LANGSMITH_API_KEY LANGSMITH_ENDPOINT POSTGRES_URI_CUSTOM REDIS_URI_CUSTOM PATH PORT MOUNT_PREFIX LSD_ENV " +
  "LSD_DD_API_KEY LSD_DD_ENDPOINT LSD_DEPLOYMENT_TYPE";

/** Variables that would change how the process itself runs, where it listens, or its authentication. */
const OURS = "PORT MOUNT_PREFIX NODE_OPTIONS LD_PRELOAD LD_LIBRARY_PATH NODE_PATH";

const names = (text: string): ReadonlySet<string> => new Set(text.split(" "));
const RESERVED = names(`${ALWAYS} ${OURS}`);
const RESERVED_IN_THE_CLOUD = names(IN_THE_CLOUD);

/**
 * Settings of the agent server that a deployment may set itself, in its secrets: they affect its own runs only. All
 * other names that begin with HEDDLE_ are rejected, so that no setting of a later version is open by accident.
 */
export const OWN_SETTINGS = [
  "HEDDLE_WEBHOOK_SECRETS",
  "HEDDLE_WEBHOOK_TIMEOUT_MS",
  "HEDDLE_WEBHOOK_CONCURRENCY",
  "HEDDLE_WEBHOOKS_PER_RECEIVER",
  "HEDDLE_WEBHOOK_MAX_ATTEMPTS",
  "HEDDLE_WEBHOOK_RETRY_MS",
  "HEDDLE_WEBHOOK_RETENTION_HOURS",
  "HEDDLE_STUDIO_AUTH",
  "HEDDLE_OUTBOUND_ALLOW",
  "HEDDLE_CORS_ORIGINS",
  "HEDDLE_HOSTS",
  "HEDDLE_ISOLATED_HOSTS",
  "HEDDLE_JOBS",
  "HEDDLE_HOST_BLOCK_MS",
  "HEDDLE_HOST_START_MS",
  "HEDDLE_RUN_MAX_ATTEMPTS",
  "HEDDLE_RUN_TIMEOUT_SECS",
  "HEDDLE_MAX_VALUE_MB",
  "HEDDLE_DURABILITY",
  "HEDDLE_MULTITASK_STRATEGY",
  "HEDDLE_ANSWER_TOOL_CALLS",
  "HEDDLE_CRON_MISSED",
  "HEDDLE_CRON_SKIP_WAITING",
  "HEDDLE_IDEMPOTENCY_HOURS",
  "HEDDLE_FEEDBACK_LINK_HOURS",
  "HEDDLE_LOG_LEVEL",
  "HEDDLE_TRACE_MASKING",
] as const;
const OWN: ReadonlySet<string> = new Set(OWN_SETTINGS);

/** Of these, those that the platform reads itself: it must know their values, so they cannot come from elsewhere. */
const READ_HERE = names("HEDDLE_HOSTS HEDDLE_ISOLATED_HOSTS BG_JOB_ISOLATED_LOOPS HEDDLE_OUTBOUND_ALLOW");

/** Returns why a deployment may not set a variable; null when it may. `isReference`: its value is in a cluster. */
export function reservedReason(
  name: string,
  installation: "self_hosted" | "cloud",
  { isReference = false }: { isReference?: boolean } = {},
): string | null {
  const isPlatforms = RESERVED.has(name) || (installation === "cloud" && RESERVED_IN_THE_CLOUD.has(name));
  if (isPlatforms) return `${name} is reserved: the platform sets it`;
  if (isReference && READ_HERE.has(name)) {
    return `${name} is reserved as a reference: the platform reads it, so set it as a secret of the deployment`;
  }
  if (!name.startsWith("HEDDLE_") || OWN.has(name)) return null;
  return `${name} is reserved: it is not among the settings that a deployment may set, which are ${OWN_SETTINGS.join(", ")}`;
}
