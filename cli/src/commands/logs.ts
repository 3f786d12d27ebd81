import { setTimeout as sleep } from "node:timers/promises";

import { ControlApi, isUnavailable, type LogEntryOnWire } from "../core/control-api.ts";
import { CONTROL_FLAGS, revisionId } from "../core/control-flags.ts";
import { describeFlags, readArguments, UsageError, type FlagSpec } from "../core/flags.ts";
import { readLogs } from "../core/follow-revision.ts";

const FOLLOW_MS = 1000;

const flags = {
  ...CONTROL_FLAGS,
  follow: { type: "switch", default: false, description: "Follow new lines until Ctrl-C. Also: -f." },
  type: { type: "text", placeholder: "NAME", default: "deploy", description: "Type of log: deploy or build." },
  revision: {
    type: "text",
    placeholder: "ID",
    defaultNote: "all of the deployment; the latest for build",
    description: "Only lines of this revision.",
  },
  limit: {
    type: "integer",
    placeholder: "N",
    default: 100,
    min: 1,
    max: 1000,
    description: "Number of lines, the newest ones.",
  },
  level: {
    type: "text",
    placeholder: "NAME",
    description: "Only lines of this level: debug, info, warning, error or critical.",
  },
  query: { type: "text", placeholder: "TEXT", description: "Only lines that contain this text." },
} as const satisfies Record<string, FlagSpec>;

export const summary = "Show logs of a deployment or its build";

export function help(): string {
  return `Usage: heddle logs NAME [options]

Options:
${describeFlags(flags)}
`;
}

export async function run(args: string[]): Promise<void> {
  const spelled = args.map((arg) => (arg === "-f" ? "--follow" : arg));
  const { words, options } = readArguments(flags, spelled, process.env, 1);
  const api = new ControlApi(options.url, options["api-key"]);
  if (words[0] === undefined) throw new UsageError("The name of the deployment is missing: heddle logs NAME");
  if (options.type !== "deploy" && options.type !== "build")
    throw new UsageError('--type must be "deploy" or "build".');
  const requestedRevision = revisionId("--revision", options.revision);
  const deployment = await api.find(words[0]);
  const revision = requestedRevision ?? (options.type === "build" ? deployment.latest_revision_id : undefined);
  if (revision === null) throw new Error(`${deployment.name} has no revision yet.`);
  const where = revision === undefined ? "" : `/revisions/${revision}`;
  const path = `/v1/projects/${deployment.id}${where}/${options.type}_logs`;
  const filter = { ...(options.level && { level: options.level }), ...(options.query && { query: options.query }) };
  type Page = { logs: LogEntryOnWire[] };
  const { logs } = await api.send<Page>("POST", path, { order: "desc", limit: options.limit, ...filter });
  let position = logs[0]?.id ?? "0";
  for (const entry of logs.reverse()) print(entry);
  while (options.follow) {
    await sleep(FOLLOW_MS);
    try {
      const { lines, next } = await readLogs(api, path, position, filter);
      position = next ?? position;
      for (const entry of lines) print(entry);
    } catch (error) {
      // it is restarting, which takes a while
      if (!isUnavailable(error)) throw error;
      process.stderr.write(`${(error as Error).message} Retrying.\n`);
    }
  }
}

const print = ({ timestamp, level, message }: LogEntryOnWire): void => {
  process.stdout.write(`${new Date(timestamp).toISOString()} ${level.padEnd(8)} ${message}\n`);
};
