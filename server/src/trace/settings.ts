import { blobOptions } from "../base/blob/settings.ts";
import { consoleUrlOptions } from "../base/config/console-url.ts";
import { choice, integer, type Options, text } from "../base/config/options.ts";
import { processOptions } from "../base/config/process-options.ts";
import { embeddedPostgresOptions } from "../base/db/settings.ts";
import { clientIpOptions } from "../base/http/client-ip.ts";
import { bodyOptions } from "../base/http/body-gate.ts";
import { connectionOptions } from "../base/http/connection-limits.ts";
import { crossOriginOptions } from "../base/http/cross-origin.ts";
import { outboundOptions } from "../base/outbound/settings.ts";
import { webhookOptions } from "../base/webhooks/settings.ts";
import { alertOptions } from "./alerts/settings.ts";
import { codeEvaluatorOptions } from "./code-evaluators/settings.ts";
import { dashboardOptions } from "./dashboards/settings.ts";
import { destinationOptions } from "./export-destinations/settings.ts";
import { exportOptions } from "./bulk-exports/settings.ts";
import { experimentOptions } from "./experiment-runs/settings.ts";
import { insightOptions } from "./insights/settings.ts";
import { otelOptions } from "./otel/settings.ts";
import { rateLimitOptions } from "./rate-limits/settings.ts";
import { retentionOptions } from "./retention/settings.ts";
import { ruleActionOptions } from "./rule-actions/settings.ts";

export const BODY_SETTING = "HEDDLE_TRACE_MAX_BODY_BYTES";

/** Settings of the trace platform. */
export const traceOptions = {
  errors: choice({
    env: ["HEDDLE_TRACE_ERRORS"],
    default: "detail",
    of: ["text", "detail"],
    description: 'Format of error bodies: bare text, or {"detail": message}.',
  }),
  maxBodyBytes: integer({
    env: [BODY_SETTING],
    default: 64 * 1024 * 1024,
    min: 1024,
    description:
      "Maximum size of a request body in bytes, decompressed; a larger one gets 413. Its objects, lists, values and " +
      "distinct names may take twice as much memory when decoded.",
  }),
  ...processOptions,
  ...embeddedPostgresOptions,
  publicUrl: text<string | undefined>({
    env: ["HEDDLE_TRACE_PUBLIC_URL", "HEDDLE_PUBLIC_URL"],
    default: undefined,
    description:
      "Public URL of the trace platform, used in links that it returns: https://traces.example. Default: the " +
      "URL that the caller used.",
  }),
  clickhouseUrl: text({
    env: ["CLICKHOUSE_URL"],
    default: "",
    description:
      "ClickHouse server for traces: http[s]://user:password@host:8123/database. Empty: chDB in this process.",
    secret: true,
  }),
  clickhouseCluster: text({
    env: ["HEDDLE_CLICKHOUSE_CLUSTER"],
    default: "",
    description:
      "Name of the ClickHouse cluster across which tables are distributed and replicated. Empty: one server.",
  }),
  ingestMemoryMb: integer({
    env: ["HEDDLE_INGEST_MEMORY_MB"],
    default: 64,
    min: 4,
    description:
      "Maximum size, in MiB, of received traces that are not stored yet. Requests beyond it wait, then get 429.",
  }),
  clickhouseConnections: integer({
    env: ["HEDDLE_CLICKHOUSE_CONNECTIONS"],
    default: 4,
    min: 2,
    max: 100,
    description:
      "Maximum number of concurrent statements on ClickHouse. With chDB each occupies one of the " +
      "UV_THREADPOOL_SIZE threads while it runs.",
  }),
  traceQuerySeconds: integer({
    env: ["HEDDLE_TRACE_QUERY_SECONDS"],
    default: 60,
    min: 1,
    max: 100,
    description: "Timeout of a caller's query in seconds; a longer query is killed and gets 422.",
  }),
  traceQueries: integer({
    env: ["HEDDLE_TRACE_QUERIES"],
    default: 0,
    max: 100,
    description:
      "Maximum number of concurrent queries of callers in a process. Up to 100 more wait for at most 30 s, then " +
      "get 503. 0: HEDDLE_CLICKHOUSE_CONNECTIONS minus 2, at least 1. Workspaces take turns; while several are " +
      "active, one gets at most half.",
  }),
  chdbMaxMemoryMb: integer({
    env: ["HEDDLE_CHDB_MEMORY_MB"],
    default: 0,
    description:
      "Memory limit of chDB in MiB; statements that need more fail. 0: half of the machine's memory, at most 4096.",
  }),
  ...otelOptions,
  ...blobOptions,
  ...clientIpOptions,
  ...outboundOptions,
  ...webhookOptions,
  ...bodyOptions,
  ...connectionOptions,
  ...crossOriginOptions,
  ...rateLimitOptions,
  ...retentionOptions,
  ...consoleUrlOptions,
  ...destinationOptions,
  ...exportOptions,
  ...ruleActionOptions,
  ...alertOptions,
  ...dashboardOptions,
  ...experimentOptions,
  ...codeEvaluatorOptions,
  ...insightOptions,
};

export type TraceSettings = Options<typeof traceOptions>;
