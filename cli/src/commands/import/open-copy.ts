import { join } from "node:path";

import { AgentSource } from "./agents-source.ts";
import { AgentTarget, type AgentTargetOptions } from "./agents-target.ts";
import { copy, copyName, type CopyReport, CopyState, type Source, type Target } from "./copy.ts";
import { DirectorySource, DirectoryTarget } from "./directory.ts";
import { showProgress, summarize } from "./progress.ts";
import { Server } from "./server.ts";
import { type Selection, TraceSource } from "./traces-source.ts";
import { TraceTarget } from "./traces-target.ts";

export type Content = "agents" | "traces";

interface Place {
  /** URL of a server, or a directory. */
  place: string;
  key: string | undefined;
}

interface Options extends AgentTargetOptions {
  selection: Selection;
  dataDirectory: string;
  /** Path of the state file. */
  state: string | undefined;
}

const isUrl = ({ place }: Place) => /^https?:\/\//.test(place);

/** Copies between servers and directories. Prints the progress, and sets the exit code when something was not taken. */
export async function runCopy(content: Content, from: Place, to: Place, options: Options): Promise<CopyReport> {
  const name = copyName(content, from.place, to.place, options.selection);
  const path = isUrl(to)
    ? (options.state ?? join(options.dataDirectory, `import-${content}-${name}.json`))
    : join(to.place, "state.json");
  const state = new CopyState(options.isDry ? undefined : path);
  if (Object.keys(state.positions).length > 0) console.error(`Continuing the interrupted copy of ${path}.`);
  const { update, clear } = showProgress();
  const report = await copy(
    openSource(content, from, options),
    openTarget(content, from, to, options, state),
    state,
    update,
  ).finally(clear);
  process.stdout.write(`${summarize(report)} ${options.isDry ? "would be copied" : "copied"}.\n`);
  return report;
}

/** Prints what was not taken. Exits with 1 then. */
export function reportLeft(left: readonly string[]): void {
  for (const what of left) console.error(`Not taken: ${what}`);
  if (left.length > 0) process.exitCode = 1;
}

function openSource(content: Content, from: Place, { selection }: Options): Source {
  if (!isUrl(from)) return new DirectorySource(from.place, content);
  const server = new Server(from.place, from.key);
  return content === "agents" ? new AgentSource(server) : new TraceSource(server, selection);
}

function openTarget(content: Content, from: Place, to: Place, options: Options, state: CopyState): Target {
  if (!isUrl(to)) return new DirectoryTarget(to.place, { content, source: from.place }, state);
  const server = new Server(to.place, to.key);
  return content === "agents" ? new AgentTarget(server, options) : new TraceTarget(server, options.isDry);
}
