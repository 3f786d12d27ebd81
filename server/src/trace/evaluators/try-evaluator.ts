import type { Principal } from "../../base/auth/principal.ts";
import { forbidden, notFound, unprocessable } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { findRunKeys } from "../run-rows/clickhouse.ts";
import { checkProjects, toSelection } from "../runs/query-runs.ts";
import { loadScope } from "../runs/load-scope.ts";
import { RunScope } from "../runs/run-scope.ts";
import { selectPage } from "../runs/select-page.ts";
import { checkDefinition } from "./check-definition.ts";
import type { Definition } from "./definition.ts";
import { evaluateOnce } from "./evaluate.ts";
import { inParallel } from "../../base/in-parallel.ts";
import { loadEvaluator, needsOf } from "./load-evaluator.ts";
import { loadSubjects } from "./load-subjects.ts";
import type { EvaluatedKey } from "./read-evaluated-runs.ts";
import { readDefinition } from "./read-fields.ts";
import { evaluatorNotFound } from "./save-evaluator.ts";
import type { Subject } from "./schema.ts";
import { sumUsd } from "./sum-usd.ts";
import type { TryBody } from "./wire-schema.ts";

const MAX_RUNS = 10;
/** Judgements at the same time. */
const AT_ONCE = 4;

/** Judges some runs by an evaluator, saved or not, and stores nothing. @throws 404, 422 */
export async function tryEvaluator(deps: TraceDeps, principal: Principal, body: TryBody, signal: AbortSignal) {
  const { name, definition, evaluatorId } = await readEvaluator(deps, principal, body);
  if (definition.type === "llm" && !principal.permissions.has("models:call")) {
    throw forbidden("Forbidden: the permission models:call is required to try a judge.");
  }
  const tenantId = principal.workspaceId;
  const keys = await findKeys(deps, principal, body);
  const subjects = pairUp(
    definition,
    await loadSubjects(deps, tenantId, { kind: definition.subject, needs: needsOf(definition) }, keys),
  );
  const metadata = { heddle_try: true, ...(evaluatorId !== null && { evaluator_id: evaluatorId }) };
  const results = await inParallel(subjects, AT_ONCE, async (subject) => {
    const verdict = await evaluateOnce(deps, principal, { name, definition }, subject, {
      signal,
      evaluatorId,
      metadata,
    });
    return { run_id: subject.run.id, other_run_id: subject.other?.id ?? null, run_name: subject.run.name, ...verdict };
  });
  return { results, cost_usd: sumUsd(results.map((result) => result.cost_usd)) };
}

async function readEvaluator(
  deps: TraceDeps,
  principal: Principal,
  body: TryBody,
): Promise<{ name: string; definition: Definition; evaluatorId: string | null }> {
  const { evaluator_id: id, version, type } = body;
  const known = id == null ? undefined : await loadEvaluator(deps, principal.workspaceId, id, version ?? undefined);
  if (id != null && !known) throw evaluatorNotFound();
  const isChanged = body.llm_evaluator != null || body.code_evaluator != null || body.subject != null;
  if (known && !isChanged) return { name: known.name, definition: known.definition, evaluatorId: known.id };
  const kind = type ?? known?.definition.type;
  if (kind === undefined) throw unprocessable("type: required, or an evaluator_id");
  const given = readDefinition(kind, body, known?.definition.type === kind ? known.definition : undefined);
  const { definition } = await checkDefinition(deps, principal, given);
  return { name: body.name ?? known?.name ?? "evaluator", definition, evaluatorId: known?.id ?? null };
}

async function findKeys(deps: TraceDeps, principal: Principal, body: TryBody): Promise<EvaluatedKey[]> {
  const { run_ids: ids, session_id: project, filter, limit } = body;
  const scope = RunScope.of(principal);
  if (ids != null) {
    const found = (await findRunKeys(deps.clickhouse, scope.tenantId, ids)).filter((key) => !key.deleted);
    const byId = new Map(found.map((key) => [key.id, key]));
    const missing = ids.find((id) => !byId.has(id));
    if (missing !== undefined) throw notFound(`Run not found: ${missing}`);
    return ids.map((id) => byId.get(id)!);
  }
  if (project == null) throw unprocessable("run_ids: required, or a session_id");
  await checkProjects(deps, scope, [project]);
  const selection = toSelection({
    session: [project],
    is_root: true,
    include_provisional_roots: true,
    ...(filter != null && { filter }),
  } as never);
  const page = { columns: ["r.trace_id"], descending: true, limit };
  const { rows } = await selectPage(deps, await loadScope(deps, scope, selection), selection, page);
  return rows.map((row) => ({ ...row, trace_id: row.trace_id! }));
}

/** Pairs are the first and second run, the third and fourth, and so on. */
function pairUp({ subject: kind }: Definition, subjects: Subject[]): Subject[] {
  if (kind !== "pair") {
    if (subjects.length > MAX_RUNS) throw unprocessable(`run_ids: at most ${MAX_RUNS}`);
    return subjects;
  }
  if (subjects.length < 2) throw unprocessable("run_ids: a pair needs two runs");
  return Array.from({ length: Math.floor(subjects.length / 2) }, (_, i) => ({
    ...subjects[2 * i]!,
    other: subjects[2 * i + 1]!.run,
  }));
}
