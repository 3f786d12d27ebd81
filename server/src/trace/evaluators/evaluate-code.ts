import { runCode } from "../code-evaluators/run-code.ts";
import type { TraceDeps } from "../deps.ts";
import type { CodeDefinition } from "./definition.ts";
import { failed, type Verdict } from "./judge.ts";
import { readCodeResult } from "./read-code-result.ts";
import { latency } from "./read-path.ts";
import type { EvaluatedRun, Subject } from "./schema.ts";

/** Characters of output that are shown. */
const MAX_LOGS = 20_000;

/** Evaluates a subject by code. */
export async function evaluateCode(
  deps: Pick<TraceDeps, "codeRunner">,
  tenantId: string,
  { language, code }: CodeDefinition,
  { kind, run, reference, thread, other }: Subject,
  { name, signal }: { name: string; signal: AbortSignal },
): Promise<Verdict> {
  const more = {
    ...(thread && { thread: thread.map(toCodeRun) }),
    ...(other && { other: toCodeRun(other) }),
  };
  const result = await runCode(deps, {
    language,
    code,
    tenantId,
    run: toCodeRun(run),
    example: reference ? { ...reference } : null,
    ...(["thread", "pair"].includes(kind) && { more }),
    signal,
  });
  const logs = result.logs === "" ? null : result.logs.slice(0, MAX_LOGS);
  if (!result.ok) return { ...failed(result.message, result.kind === "unavailable"), logs };
  const read = readCodeResult(result.value, name);
  if ("problem" in read) return { ...failed(`The code ${read.problem}.`), logs };
  return { ...failed(""), error: null, feedback: read.feedback, logs };
}

/** Returns a run as LangSmith's code evaluators receive it. */
function toCodeRun(run: EvaluatedRun): Record<string, unknown> {
  const { project_id, metadata, children, total_cost, ...rest } = run;
  return {
    ...rest,
    session_id: project_id,
    metadata,
    extra: { metadata },
    total_cost: total_cost === null ? null : Number(total_cost),
    latency: latency(run) ?? null,
    ...(children && { child_runs: children.map(toCodeRun) }),
  };
}
