import type { TraceDeps } from "../deps.ts";
import type { CodeDefinition } from "./definition.ts";
import { failed, type Verdict } from "./judge.ts";
import type { EvaluatedRun, Subject } from "./schema.ts";

/** Evaluates a subject by code. */
export function evaluateCode(
  _deps: TraceDeps,
  _definition: CodeDefinition,
  _subject: Subject,
  _options: { name: string; signal: AbortSignal },
): Promise<Verdict> {
  return Promise.resolve(failed("Code evaluators are not available."));
}

/** Returns a run as LangSmith's code evaluators receive it. */
export function toCodeRun(run: EvaluatedRun): Record<string, unknown> {
  const { project_id, metadata, children, total_cost, ...rest } = run;
  return {
    ...rest,
    session_id: project_id,
    metadata,
    extra: { metadata },
    total_cost: total_cost === null ? null : Number(total_cost),
    latency: run.end_time === null ? null : (Date.parse(run.end_time) - Date.parse(run.start_time)) / 1000,
    ...(children && { child_runs: children.map(toCodeRun) }),
  };
}
