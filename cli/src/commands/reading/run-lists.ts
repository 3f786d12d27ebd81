/** Lists of runs and of traces, and single ones. */
import { formatAge } from "../../core/relative-time.ts";
import type { TraceApi } from "../../core/trace-api.ts";
import { cell, dollars, type Item, type Listing, red, scores, seconds } from "./print-list.ts";

export const runListing = (input: object, isOfTraces: boolean): Listing => ({
  tool: "query_runs",
  input: { ...input, root_only: isOfTraces },
  field: "runs",
  what: isOfTraces ? "traces" : "runs",
  columns: {
    [isOfTraces ? "TRACE" : "RUN"]: (run) => String(run[isOfTraces ? "trace_id" : "id"]),
    NAME: (run) => cell(run["name"], 30),
    ...(!isOfTraces && { TYPE: (run) => cell(run["run_type"]) }),
    STATUS: (run) => cell(run["status"]),
    STARTED: (run) => formatAge(run["start_time"] as string),
    LATENCY: (run) => seconds(run["latency_seconds"]),
    TOKENS: (run) => cell(run["total_tokens"]),
    COST: (run) => dollars(run["total_cost_usd"]),
    FEEDBACK: (run) => scores(run["feedback"]),
    "ERROR OR INPUT": (run) => cell(run["error"] ?? run["inputs"], 60),
  },
});

interface Node extends Item {
  depth: number;
}

interface TracePage {
  runs: Node[];
  run_count: number;
  next_cursor: string | null;
}

/** Prints the tree of a trace; with `json` a line per run. */
export async function printTrace(
  api: TraceApi,
  id: string,
  { json, errorsOnly, values }: { json: boolean; errorsOnly: boolean; values: number },
): Promise<void> {
  let cursor: string | undefined;
  do {
    const page: TracePage = await api.callTool("read_trace", {
      trace_id: id,
      errors_only: errorsOnly,
      max_value_characters: values,
      max_characters: 500_000,
      ...(cursor !== undefined && { cursor }),
    });
    for (const run of page.runs) process.stdout.write(json ? `${JSON.stringify(run)}\n` : nodeText(run));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
}

function nodeText(run: Node): string {
  const indent = "  ".repeat(run.depth);
  const isFailed = run["status"] === "error";
  const facts = [
    run["run_type"],
    seconds(run["latency_seconds"]),
    run["total_tokens"] ? `${cell(run["total_tokens"])} tokens` : "",
  ];
  const head = `${indent}${cell(run["name"])} (${facts.filter(Boolean).map(String).join(", ")}) ${String(run["id"])}`;
  const lines = [isFailed ? red(`${head} error`) : head];
  const width = Math.max(40, (process.stdout.columns ?? 100) - indent.length - 6);
  if (isFailed) lines.push(red(`${indent}  ! ${cell(run["error"], width)}`));
  lines.push(`${indent}  < ${cell(run["inputs"], width)}`, `${indent}  > ${cell(run["outputs"], width)}`);
  return `${lines.join("\n")}\n`;
}

const SHOWN = "name run_type status start_time end_time trace_id parent_run_id thread_id total_tokens total_cost error";

/** Prints a run in full. */
export async function printRun(api: TraceApi, id: string, json: boolean): Promise<void> {
  const text = await api.sendText("GET", `/runs/${id}`);
  if (json) return void process.stdout.write(`${JSON.stringify(JSON.parse(text))}\n`);
  const run = JSON.parse(text) as Item & { extra?: { metadata?: unknown } | null };
  const lines = SHOWN.split(" ").flatMap((name) =>
    run[name] == null ? [] : [`${`${name}:`.padEnd(15)} ${clean(plain(run[name]))}`],
  );
  const parts = {
    tags: run["tags"],
    metadata: run.extra?.metadata,
    feedback: run["feedback_stats"],
    inputs: run["inputs"],
    outputs: run["outputs"],
  };
  for (const [name, value] of Object.entries(parts)) {
    const isEmpty = value == null || (typeof value === "object" && Object.keys(value).length === 0);
    if (!isEmpty) lines.push(`${name}:`, clean(JSON.stringify(value, null, 2)));
  }
  process.stdout.write(`${lines.join("\n")}\n`);
}

const plain = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Removes control characters, which would change the terminal's state. */
// oxlint-disable-next-line no-control-regex -- they are what is removed
export const clean = (text: string): string => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
