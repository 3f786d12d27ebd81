import { choice, ConfigError, flag, integer, type Options, type OptionSpec, text } from "../base/config/options.ts";
import { processOptions } from "../base/config/process-options.ts";
import { embeddedPostgresOptions } from "../base/db/settings.ts";
import { clientIpOptions } from "../base/http/client-ip.ts";
import { bodyOptions } from "../base/http/body-gate.ts";
import { connectionOptions } from "../base/http/connection-limits.ts";
import { crossOriginOptions } from "../base/http/cross-origin.ts";
import { webSocketOptions } from "../base/http/websocket.ts";
import { outboundOptions } from "../base/outbound/settings.ts";
import { cronOptions } from "./crons/settings.ts";
import { webhookOptions } from "./webhooks/settings.ts";
import { prefix } from "./project/http-schema.ts";

/** Settings of the agent server. Names used by peers are accepted as aliases. */
export const agentOptions = {
  errors: choice({
    env: ["HEDDLE_ERRORS"],
    default: "text",
    of: ["text", "detail"],
    description: 'Shape of error bodies: bare text, or {"detail": message}.',
  }),
  maxBodyBytes: integer({
    env: ["HEDDLE_MAX_BODY_BYTES"],
    default: 64 * 1024 * 1024,
    min: 1024,
    description: "Largest request body in bytes; a larger one gets 413.",
  }),
  hosts: integer({
    env: ["HEDDLE_HOSTS"],
    default: 2,
    min: 1,
    max: 64,
    description: "Graph host processes that take runs; one more is kept in reserve.",
  }),
  jobs: integer({
    env: ["HEDDLE_JOBS", "N_JOBS_PER_WORKER"],
    default: 100,
    min: 1,
    max: 10_000,
    description: "Runs that this server executes at the same time, over all of its graph hosts.",
  }),
  hostMemoryMb: integer({
    env: ["HEDDLE_HOST_MEMORY_MB"],
    default: 2048,
    min: 64,
    description: "Memory limit of one graph host in MB; a host beyond it is ended and its runs are retried.",
  }),
  hostBlockMs: integer({
    env: ["HEDDLE_HOST_BLOCK_MS"],
    default: 10_000,
    min: 500,
    description: "A graph host that does not answer for this long (a blocked event loop) is ended.",
  }),
  maxFailures: integer({
    env: ["HEDDLE_RUN_MAX_ATTEMPTS"],
    default: 3,
    min: 1,
    description: "Attempts that a run may lose with its host before it ends as error.",
  }),
  runTimeoutSecs: integer({
    env: ["HEDDLE_RUN_TIMEOUT_SECS", "BG_JOB_TIMEOUT_SECS"],
    default: 3600,
    min: 1,
    description: "A run that takes longer ends with status timeout.",
  }),
  shutdownGraceSecs: integer({
    env: ["HEDDLE_SHUTDOWN_GRACE_SECS", "BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS"],
    default: 5,
    description: "At shutdown, how long runs may go on before they are handed back to the queue.",
  }),
  leaseMs: integer({
    env: ["HEDDLE_LEASE_MS"],
    default: 8000,
    min: 1000,
    description: "A server whose heartbeat is older than this has lost its runs to the others.",
  }),
  multitaskStrategy: choice({
    env: ["HEDDLE_MULTITASK_STRATEGY"],
    default: "enqueue",
    of: ["enqueue", "reject", "interrupt", "rollback"],
    description: "What happens to a run on a busy thread when the request does not say.",
  }),
  durability: choice({
    env: ["HEDDLE_DURABILITY"],
    default: "sync",
    of: ["sync", "async", "exit"],
    description: "When checkpoints are written when the request does not say; sync: before the next step starts.",
  }),
  answerToolCalls: flag({
    env: ["HEDDLE_ANSWER_TOOL_CALLS"],
    default: true,
    description:
      "New input on a thread whose tool calls were stopped (a cancelled run, a discarded question) brings an error result " +
      "for each of them, because model providers refuse a conversation with unanswered calls.",
  }),
  streamTtlSecs: integer({
    env: ["RESUMABLE_STREAM_TTL_SECONDS"],
    default: 120,
    description: "How long the frames of a finished run can still be read; of resumable ones also after a restart.",
  }),
  redisUri: text<string | undefined>({
    env: ["REDIS_URI"],
    default: undefined,
    secret: true,
    description: "Redis, the quick way for stream frames between servers. Without it they go through Postgres.",
  }),
  streamMemoryMb: integer({
    env: ["HEDDLE_STREAM_MEMORY_MB"],
    default: 32,
    min: 1,
    description: "Memory for stream frames; what is beyond it is kept in files under the data directory.",
  }),
  streamDiskMb: integer({
    env: ["HEDDLE_STREAM_DISK_MB"],
    default: 1024,
    min: 1,
    description:
      "Disk for those files over all runs, at most half of what is free at the start. A stream that needs more ends " +
      "with the event incomplete; one that is kept in the database is read back from there.",
  }),
  idempotencyHours: integer({
    env: ["HEDDLE_IDEMPOTENCY_HOURS"],
    default: 24,
    min: 1,
    description: "How long an Idempotency-Key stands for the run that it has made.",
  }),
  feedbackLinkHours: integer({
    env: ["HEDDLE_FEEDBACK_LINK_HOURS"],
    default: 24,
    min: 1,
    max: 87_600,
    description: "How long the feedback links of a run (feedback_keys) are valid, from the time that it may start.",
  }),
  ...processOptions,
  ...embeddedPostgresOptions,
  faultPoints: text({
    env: ["HEDDLE_FAULT_POINTS"],
    default: undefined,
    description: "For crash tests: name:n kills this process when it passes the named point for the n-th time.",
  }),
  reload: flag({ env: ["HEDDLE_RELOAD"], default: true, description: "Load graphs again when their files change." }),
  langgraphConfig: text({
    env: ["LANGGRAPH_CONFIG"],
    default: undefined,
    description: "JSON by graph id: config and context of the default assistants.",
  }),
  langsmithTracing: text<string | undefined>({
    env: ["LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING", "LANGCHAIN_TRACING"],
    default: undefined,
    description:
      "LangChain's own switch. false: runs are not traced. true: traces go to LANGSMITH_ENDPOINT too, besides ours.",
  }),
  langsmithEndpoint: text<string | undefined>({
    env: ["LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT"],
    default: undefined,
    description: "That other platform; it issues feedback links where the traces of runs go to no platform of ours.",
  }),
  langsmithKey: text<string | undefined>({
    env: ["LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"],
    default: undefined,
    secret: true,
    description: "Key for it.",
  }),
  tracingUrl: text<string | undefined>({
    env: ["HEDDLE_TRACING_URL"],
    default: undefined,
    description: "Where the traces of runs are sent: a trace platform. heddle dev sends them to its own.",
  }),
  tracingKey: text<string | undefined>({
    env: ["HEDDLE_TRACING_KEY"],
    default: undefined,
    secret: true,
    description: "Key for that platform, with the permission to send traces.",
  }),
  mountPrefix: {
    env: ["MOUNT_PREFIX"],
    default: undefined,
    description: "Path below which everything is served, such as /agents; wins over http.mount_prefix.",
    parse: parsePrefix,
  } satisfies OptionSpec<string | undefined> as OptionSpec<string | undefined>,
  studioAuth: flag({
    env: ["HEDDLE_STUDIO_AUTH"],
    default: false,
    description:
      "Let in whoever sends x-auth-scheme: langsmith and a valid key of this server's workspace, past the " +
      "project's own authentication, as the user langgraph-studio-user.",
  }),
  ...clientIpOptions,
  ...bodyOptions,
  ...connectionOptions,
  ...crossOriginOptions,
  ...webSocketOptions,
  ...outboundOptions,
  ...webhookOptions,
  ...cronOptions,
};

function parsePrefix(given: string): string {
  const parsed = prefix.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new ConfigError(`${parsed.error.issues[0]!.message}, not "${given}"`);
}

export type AgentSettings = Options<typeof agentOptions>;
