import type { FlagSpec } from "./flags.ts";

/** Flags with the same meaning for all commands that start a server or work on its data. */
export const SERVER_FLAGS = {
  port: {
    type: "integer",
    placeholder: "N",
    env: ["HEDDLE_AGENT_PORT", "PORT"],
    default: 2024,
    max: 65_535,
    description: "Port of the agent server; 0 picks a free one.",
  },
  "trace-port": {
    type: "integer",
    placeholder: "N",
    env: ["HEDDLE_TRACE_PORT"],
    default: 1984,
    max: 65_535,
    description: "Port of the trace platform; 0 picks a free one.",
  },
  "control-port": {
    type: "integer",
    placeholder: "N",
    env: ["HEDDLE_CONTROL_PORT"],
    default: 2026,
    max: 65_535,
    description: "Port of the control plane and its gateway; 0 picks a free one.",
  },
  "gateway-port": {
    type: "integer",
    placeholder: "N",
    env: ["HEDDLE_GATEWAY_PORT"],
    default: 2027,
    max: 65_535,
    description: "Port of a standalone gateway; 0 picks a free one.",
  },
  "console-port": {
    type: "integer",
    placeholder: "N",
    env: ["HEDDLE_CONSOLE_PORT"],
    default: 3000,
    max: 65_535,
    description: "Port of the console; 0 picks a free one.",
  },
  console: {
    type: "switch",
    env: ["HEDDLE_CONSOLE"],
    default: true,
    description: "Do not serve the console.",
  },
  host: {
    type: "text",
    placeholder: "ADDRESS",
    env: ["HEDDLE_HOST"],
    default: "127.0.0.1",
    description: "Address to listen on. On addresses other than loopback, requests require a key (HEDDLE_AUTH).",
  },
  "postgres-uri": {
    type: "text",
    placeholder: "URI",
    env: ["DATABASE_URI"],
    description: "URI of a Postgres 15 or newer to use instead of the embedded one.",
  },
  "n-jobs-per-worker": {
    type: "integer",
    placeholder: "N",
    env: ["N_JOBS_PER_WORKER"],
    min: 1,
    max: 10_000,
    description: "Maximum number of concurrent runs.",
  },
} as const satisfies Record<string, FlagSpec>;
