import { choice, integer, text } from "../../base/config/options.ts";

/** Settings of export processing. */
export const exportOptions = {
  exportStatusCase: choice({
    env: ["HEDDLE_EXPORT_STATUS_CASE"],
    default: "upper",
    of: ["upper", "title"],
    description: "Statuses of exports in answers: RUNNING, TIMEDOUT, or Running, TimedOut. Both are understood.",
  }),
  exportCompression: choice({
    env: ["HEDDLE_EXPORT_COMPRESSION"],
    default: "zstandard",
    of: ["none", "gzip", "snappy", "zstandard"],
    description: "Compression of exported files where the export names none.",
  }),
  exportFormatVersion: choice({
    env: ["HEDDLE_EXPORT_FORMAT_VERSION"],
    default: "v2_beta",
    of: ["v1", "v2_beta"],
    description: "Format of exports that name none: v1 has tags and parent_run_ids as JSON text, v2_beta as lists.",
  }),
  exportConcurrency: integer({
    env: ["HEDDLE_EXPORT_CONCURRENCY"],
    default: 2,
    min: 0,
    max: 64,
    description:
      "Exports that this process works on at once, the last of them for a workspace that has none. 0: none, others do.",
  }),
  exportWorkspaceLimit: integer({
    env: ["HEDDLE_EXPORT_WORKSPACE_LIMIT"],
    default: 3,
    min: 1,
    description: "Exports of one workspace that run at once; the rest waits.",
  }),
  exportFileMb: integer({
    env: ["HEDDLE_EXPORT_FILE_MB"],
    default: 128,
    min: 1,
    max: 4096,
    description: "Size that exported files are to have, in MB.",
  }),
  exportFileRows: integer({
    env: ["HEDDLE_EXPORT_FILE_ROWS"],
    default: 250_000,
    min: 1,
    max: 1_000_000,
    description: "Rows that an exported file has at most. What is worked on at once is bounded by it.",
  }),
  exportRetries: integer({
    env: ["HEDDLE_EXPORT_RETRIES"],
    default: 20,
    description: "How often a run of an export is tried again before it has failed.",
  }),
  exportRetryMs: integer({
    env: ["HEDDLE_EXPORT_RETRY_MS"],
    default: 2000,
    min: 1,
    description: "Pause before the first retry, in ms. Each is twice the one before, at most 5 minutes.",
  }),
  exportFaultPoints: text<string | undefined>({
    env: ["HEDDLE_FAULT_POINTS"],
    default: undefined,
    description: "For crash tests: name:n kills this process when it passes the named point for the n-th time.",
  }),
  exportLeaseSeconds: integer({
    env: ["HEDDLE_EXPORT_LEASE_SECONDS"],
    default: 30,
    min: 2,
    max: 600,
    description: "After so many seconds without a sign from the process that works on an export another one goes on.",
  }),
};
