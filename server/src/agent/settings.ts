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
import { webhookOptions } from "../base/webhooks/settings.ts";
import { prefix } from "./project/http-schema.ts";

/** Settings of the agent server. Names used by peers are accepted as aliases. */
export const agentOptions = {
  errors: choice({
    env: ["HEDDLE_ERRORS"],
    default: "auto",
    of: ["auto", "text", "detail"],
    description:
      'Format of error bodies: bare text, or {"detail": message}. `auto`: the latter for clients in Python, with the ' +
      "statuses of LangGraph's Python server.",
  }),
  maxBodyBytes: integer({
    env: ["HEDDLE_MAX_BODY_BYTES"],
    default: 64 * 1024 * 1024,
    min: 1024,
    description:
      "Maximum size of a request body in bytes, decompressed; a larger one gets 413. Its objects, lists, values and " +
      "distinct names may take twice as much memory when decoded.",
  }),
  instanceId: text<string | undefined>({
    env: ["HEDDLE_INSTANCE_ID"],
    default: undefined,
    description: "Id of the deployment's instance that this server is; the control plane sets it.",
  }),
  hosts: integer({
    env: ["HEDDLE_HOSTS"],
    default: 2,
    min: 1,
    max: 64,
    description: "Number of graph host processes of each language that execute runs; one more is kept in reserve.",
  }),
  isolatedHosts: integer({
    env: ["HEDDLE_ISOLATED_HOSTS"],
    default: 10,
    min: 1,
    max: 64,
    description:
      "Maximum number of graph hosts of each language that execute runs of isolated graphs (`heddle.hosts.isolated`, " +
      "BG_JOB_ISOLATED_LOOPS), one run each. Further runs of these graphs wait.",
  }),
  python: text<string | undefined>({
    env: ["HEDDLE_PYTHON"],
    default: undefined,
    description:
      "Python interpreter for Python graphs. By default the one of the active environment, of .venv or venv in the " +
      "project, or python3: the first that has langgraph.",
  }),
  debugPort: integer({
    env: ["HEDDLE_DEBUG_PORT"],
    default: 0,
    min: 0,
    max: 65_534,
    description:
      "Port on 127.0.0.1 where a debugger can attach to the graph host: debugpy for Python, the inspector for " +
      "JavaScript, which uses the next port if the project has graphs of both languages. Graphs then run in one host " +
      "process per language, which is not ended when it does not answer. 0: none.",
  }),
  jobs: integer({
    env: ["HEDDLE_JOBS", "N_JOBS_PER_WORKER"],
    default: 100,
    min: 1,
    max: 10_000,
    description:
      "Maximum number of runs that this server executes concurrently, across all of its graph hosts. " +
      "Servers on one database use the same fraction of theirs: give a smaller machine fewer.",
  }),
  hostMemoryMb: integer({
    env: ["HEDDLE_HOST_MEMORY_MB"],
    default: 2048,
    min: 64,
    description: "Memory limit of a graph host in MB; a host that exceeds it is killed and its runs are retried.",
  }),
  maxValueMb: integer({
    env: ["HEDDLE_MAX_VALUE_MB"],
    default: 64,
    min: 1,
    max: 255,
    description:
      "Maximum size in MiB of one value of a state (one channel, or one result of a node for it) as it is stored. A " +
      "run that writes a larger one ends with the error ValueTooLargeError; a state update gets 413. A graph host " +
      "needs about 30 times the size of its largest value as memory.",
  }),
  hostBlockMs: integer({
    env: ["HEDDLE_HOST_BLOCK_MS"],
    default: 300_000,
    min: 1500,
    description:
      "Time for which a run may block the event loop of its graph host, in milliseconds. A blocked host gets no new " +
      "runs. Beyond the limit that run ends with an error that names the code; a Python host continues its other runs, " +
      "a JavaScript host is replaced and its other runs continue from their last checkpoints.",
  }),
  hostLifespan: flag({
    env: ["HEDDLE_HOST_LIFESPAN"],
    default: true,
    description:
      "Run the lifespan of the project's Python app (`http.app`) in each Python graph host, too, so that nodes find what " +
      "it opens in modules that they share with the app.",
  }),
  traceMasking: text({
    env: ["HEDDLE_TRACE_MASKING"],
    default: undefined,
    description:
      "What graph hosts mask in traces before they send them: names of detectors separated by commas (secret, email, " +
      "iban, card, us_ssn, phone, ip), or a JSON list of rules (docs/masking.md). Values of a setting that cannot be " +
      "read are not sent.",
  }),
  hostStartMs: integer({
    env: ["HEDDLE_HOST_START_MS"],
    default: 120_000,
    min: 1000,
    description: "A graph host that has not loaded the graphs after this time (a blocked event loop) is killed.",
  }),
  maxFailures: integer({
    env: ["HEDDLE_RUN_MAX_ATTEMPTS"],
    default: 3,
    min: 1,
    description: "Number of attempts that a run may lose with its host before it ends with status error.",
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
    description: "At shutdown, how long runs may continue before they are handed back to the queue.",
  }),
  leaseMs: integer({
    env: ["HEDDLE_LEASE_MS"],
    default: 8000,
    min: 1000,
    description: "Lease of a server: when its heartbeat is older than this, other servers take over its runs.",
  }),
  multitaskStrategy: choice({
    env: ["HEDDLE_MULTITASK_STRATEGY"],
    default: "enqueue",
    of: ["enqueue", "reject", "interrupt", "rollback"],
    description: "Default multitask strategy for a run on a busy thread.",
  }),
  durability: choice({
    env: ["HEDDLE_DURABILITY"],
    default: "sync",
    of: ["sync", "async", "exit"],
    description:
      "Default durability, which determines when checkpoints are written; sync: before the next step starts.",
  }),
  answerToolCalls: flag({
    env: ["HEDDLE_ANSWER_TOOL_CALLS"],
    default: true,
    description:
      "Add an error result for each unanswered tool call (of a cancelled run or a discarded interrupt) when a " +
      "thread gets new input, because model providers reject conversations with unanswered calls.",
  }),
  internalTruncate: flag({
    env: ["HEDDLE_INTERNAL_TRUNCATE"],
    default: false,
    description:
      "Serve POST /internal/truncate, which deletes all threads, runs, assistants or store items. For test suites " +
      "of LangGraph servers, never in production.",
  }),
  streamTtlSecs: integer({
    env: ["RESUMABLE_STREAM_TTL_SECONDS"],
    default: 120,
    description: "How long the frames of a finished run can be read; those of resumable streams also after a restart.",
  }),
  aesKey: text<string | undefined>({
    env: ["LANGGRAPH_AES_KEY"],
    default: undefined,
    secret: true,
    description:
      "Key of 16, 24 or 32 bytes that encrypts stored state: checkpoints, values, inputs, answers, streams and store " +
      "items. All servers of a database need the same. See docs/encryption.md.",
  }),
  oldAesKeys: text<string | undefined>({
    env: ["HEDDLE_OLD_AES_KEYS"],
    default: undefined,
    secret: true,
    description:
      "Earlier or next values of LANGGRAPH_AES_KEY, separated by commas, which only decrypt: for changing the key.",
  }),
  aesJsonKeys: text<string | undefined>({
    env: ["LANGGRAPH_AES_JSON_KEYS"],
    default: undefined,
    description: "Rejected with the reason: Heddle encrypts values as a whole, and metadata stays readable.",
  }),
  redisUri: text<string | undefined>({
    env: ["REDIS_URI"],
    default: undefined,
    secret: true,
    description:
      "Redis for passing stream frames between servers with low latency. Without it they go through Postgres.",
  }),
  streamMemoryMb: integer({
    env: ["HEDDLE_STREAM_MEMORY_MB"],
    default: 32,
    min: 1,
    description: "Memory for stream frames; frames beyond it are spilled to files in the data directory.",
  }),
  streamDiskMb: integer({
    env: ["HEDDLE_STREAM_DISK_MB"],
    default: 1024,
    min: 1,
    description:
      "Disk space for these files across all runs, at most half of the space that is free at startup. A stream " +
      "that needs more ends with the event incomplete; a resumable stream is read back from the database.",
  }),
  idempotencyHours: integer({
    env: ["HEDDLE_IDEMPOTENCY_HOURS"],
    default: 24,
    min: 1,
    description: "How long an Idempotency-Key identifies the run that was created with it.",
  }),
  feedbackLinkHours: integer({
    env: ["HEDDLE_FEEDBACK_LINK_HOURS"],
    default: 24,
    min: 1,
    max: 87_600,
    description: "Validity of a run's feedback links (feedback_keys), counted from its earliest start.",
  }),
  ...processOptions,
  ...embeddedPostgresOptions,
  faultPoints: text({
    env: ["HEDDLE_FAULT_POINTS"],
    default: undefined,
    description: "For crash tests: name:n kills this process when it passes the named point for the nth time.",
  }),
  reload: flag({ env: ["HEDDLE_RELOAD"], default: true, description: "Reload graphs when their files change." }),
  langgraphConfig: text({
    env: ["LANGGRAPH_CONFIG"],
    default: undefined,
    description:
      "JSON object that maps graph ids to the config and context of their default assistants. Also read from `env` of langgraph.json.",
  }),
  langsmithTracing: text<string | undefined>({
    env: ["LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING", "LANGCHAIN_TRACING"],
    default: undefined,
    description:
      "LangChain's tracing switch. false: runs are not traced. true: traces also go to LANGSMITH_ENDPOINT, " +
      "besides Heddle's trace platform.",
  }),
  langsmithProject: text<string | undefined>({
    env: ["LANGCHAIN_PROJECT", "LANGSMITH_PROJECT"],
    default: undefined,
    description: "Project of the runs' traces and of the server's metrics. Default: default.",
  }),
  langsmithEndpoint: text<string | undefined>({
    env: ["LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT"],
    default: undefined,
    description: "URL of that platform; it issues feedback links if no trace platform of Heddle receives the traces.",
  }),
  langsmithKey: text<string | undefined>({
    env: ["LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"],
    default: undefined,
    secret: true,
    description: "API key for LANGSMITH_ENDPOINT.",
  }),
  tracingUrl: text<string | undefined>({
    env: ["HEDDLE_TRACING_URL"],
    default: undefined,
    description: "URL of the trace platform that receives the traces of runs. heddle dev uses its own.",
  }),
  tracingKey: text<string | undefined>({
    env: ["HEDDLE_TRACING_KEY"],
    default: undefined,
    secret: true,
    description: "API key for that platform, with the permission to send traces.",
  }),
  mountPrefix: {
    env: ["MOUNT_PREFIX"],
    default: undefined,
    description: "Path prefix of all routes, such as /agents; overrides http.mount_prefix.",
    parse: parsePrefix,
  } satisfies OptionSpec<string | undefined> as OptionSpec<string | undefined>,
  studioAuth: flag({
    env: ["HEDDLE_STUDIO_AUTH"],
    default: false,
    description:
      "Accept requests with x-auth-scheme: langsmith and a valid key of this server's workspace as the user " +
      "langgraph-studio-user, bypassing the project's own authentication.",
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

function parsePrefix(text: string): string {
  const parsed = prefix.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new ConfigError(`${parsed.error.issues[0]!.message}, not "${text}"`);
}

export type AgentSettings = Options<typeof agentOptions>;
