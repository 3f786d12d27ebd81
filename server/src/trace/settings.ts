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
import { destinationOptions } from "./bulk-exports/destination-settings.ts";
import { exportOptions } from "./bulk-exports/settings.ts";
import { rateLimitOptions } from "./rate-limits/settings.ts";
import { retentionOptions } from "./retention/settings.ts";

/** Settings of the trace platform. */
export const traceOptions = {
  errors: choice({
    env: ["HEDDLE_TRACE_ERRORS"],
    default: "detail",
    of: ["text", "detail"],
    description: 'Shape of error bodies: bare text, or {"detail": message}.',
  }),
  maxBodyBytes: integer({
    env: ["HEDDLE_TRACE_MAX_BODY_BYTES"],
    default: 64 * 1024 * 1024,
    min: 1024,
    description: "Largest request body in bytes; a larger one gets 413.",
  }),
  ...processOptions,
  ...embeddedPostgresOptions,
  publicUrl: text<string | undefined>({
    env: ["HEDDLE_TRACE_PUBLIC_URL"],
    default: undefined,
    description:
      "Where the trace platform is reached from outside, for links that are given out: https://traces.example. Default: as the caller of the moment reached it.",
  }),
  clickhouseUrl: text({
    env: ["CLICKHOUSE_URL"],
    default: "",
    description:
      "ClickHouse server that keeps the traces: http[s]://user:password@host:8123/database. Empty: chDB in this process.",
    secret: true,
  }),
  clickhouseCluster: text({
    env: ["HEDDLE_CLICKHOUSE_CLUSTER"],
    default: "",
    description: "Name of the ClickHouse cluster over which the tables are spread and replicated. Empty: one server.",
  }),
  ingestMemoryMb: integer({
    env: ["HEDDLE_INGEST_MEMORY_MB"],
    default: 64,
    min: 4,
    description:
      "Bytes of received traces that may be under way to the store, in MiB; what comes beyond it waits, then gets 429.",
  }),
  clickhouseConnections: integer({
    env: ["HEDDLE_CLICKHOUSE_CONNECTIONS"],
    default: 4,
    min: 2,
    max: 100,
    description:
      "Statements at once on ClickHouse. With chDB each occupies a thread of UV_THREADPOOL_SIZE while it runs.",
  }),
  traceQuerySeconds: integer({
    env: ["HEDDLE_TRACE_QUERY_SECONDS"],
    default: 60,
    min: 1,
    max: 100,
    description: "Seconds that the store may work on a query of a caller; one that takes longer is ended and gets 422.",
  }),
  traceQueries: integer({
    env: ["HEDDLE_TRACE_QUERIES"],
    default: 0,
    max: 100,
    description:
      "Queries of callers at once in a process. Up to 100 more wait for their turn, 30 s at most, then they get 503. " +
      "0: HEDDLE_CLICKHOUSE_CONNECTIONS less 2, at least 1. Workspaces take turns; while several are active one has half.",
  }),
  chdbMaxMemoryMb: integer({
    env: ["HEDDLE_CHDB_MEMORY_MB"],
    default: 0,
    description: "Memory that chDB may use, in MiB; what needs more fails. 0: half of the machine's, at most 4096.",
  }),
  ...blobOptions,
  ...clientIpOptions,
  ...outboundOptions,
  ...bodyOptions,
  ...connectionOptions,
  ...crossOriginOptions,
  ...rateLimitOptions,
  ...retentionOptions,
  ...consoleUrlOptions,
  ...destinationOptions,
  ...exportOptions,
};

export type TraceSettings = Options<typeof traceOptions>;
