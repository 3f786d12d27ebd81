import { choice, integer, text } from "../../base/config/options.ts";

/** Settings of export processing. */
export const exportOptions = {
  exportStatusCase: choice({
    env: ["HEDDLE_EXPORT_STATUS_CASE"],
    default: "upper",
    of: ["upper", "title"],
    description:
      "Format of export statuses in responses: RUNNING, TIMEDOUT, or Running, TimedOut. Requests may use both.",
  }),
  exportCompression: choice({
    env: ["HEDDLE_EXPORT_COMPRESSION"],
    default: "zstandard",
    of: ["none", "gzip", "snappy", "zstandard"],
    description: "Default compression of exported files.",
  }),
  exportFormatVersion: choice({
    env: ["HEDDLE_EXPORT_FORMAT_VERSION"],
    default: "v2_beta",
    of: ["v1", "v2_beta"],
    description: "Default format of exports: v1 has tags and parent_run_ids as JSON text, v2_beta as lists.",
  }),
  exportConcurrency: integer({
    env: ["HEDDLE_EXPORT_CONCURRENCY"],
    default: 2,
    min: 0,
    max: 64,
    description:
      "Maximum number of exports that this process executes concurrently; the last slot is reserved for a " +
      "workspace without a running export. 0: this process executes none.",
  }),
  exportWorkspaceLimit: integer({
    env: ["HEDDLE_EXPORT_WORKSPACE_LIMIT"],
    default: 3,
    min: 1,
    description: "Maximum number of concurrent exports of a workspace; further ones wait.",
  }),
  exportFileMb: integer({
    env: ["HEDDLE_EXPORT_FILE_MB"],
    default: 128,
    min: 1,
    max: 4096,
    description: "Target size of exported files, in MB.",
  }),
  exportFileRows: integer({
    env: ["HEDDLE_EXPORT_FILE_ROWS"],
    default: 250_000,
    min: 1,
    max: 1_000_000,
    description: "Maximum number of rows of an exported file; it bounds the memory of an export.",
  }),
  exportRetries: integer({
    env: ["HEDDLE_EXPORT_RETRIES"],
    default: 20,
    description: "Maximum number of retries of an export's run.",
  }),
  exportRetryMs: integer({
    env: ["HEDDLE_EXPORT_RETRY_MS"],
    default: 2000,
    min: 1,
    description: "Delay before the first retry, in ms. It doubles with each retry, up to 5 minutes.",
  }),
  exportFaultPoints: text<string | undefined>({
    env: ["HEDDLE_FAULT_POINTS"],
    default: undefined,
    description: "For crash tests: name:n kills this process when it passes the named point for the nth time.",
  }),
  exportLeaseSeconds: integer({
    env: ["HEDDLE_EXPORT_LEASE_SECONDS"],
    default: 30,
    min: 2,
    max: 600,
    description: "Lease on an export, in seconds: without a renewal, another process takes over.",
  }),
};
