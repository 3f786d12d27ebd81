import { ch, bind } from "../../base/clickhouse/fragment.ts";
import type { TraceDeps } from "../deps.ts";
import { listExamples } from "../examples/sql.ts";
import { readRows } from "../runs/read-rows.ts";
import { RunScope } from "../runs/run-scope.ts";
import { fromRuns } from "../runs/selection.ts";
import { type EvaluatedKey, readEvaluatedRuns } from "./read-evaluated-runs.ts";
import type { EvaluatedRun, LoadedEvaluator, Reference, Subject } from "./schema.ts";
import type { SubjectKind } from "./definition.ts";

/** Most turns of a thread that evaluators see; the newest. */
const MAX_TURNS = 50;

export interface SubjectOrder {
  kind: SubjectKind;
  needs: LoadedEvaluator["needs"];
}

/**
 * Loads subjects of an evaluator by the keys of their runs, in that order; deleted runs are left out. A pair's other run
 * is added by the caller.
 */
export async function loadSubjects(
  deps: Pick<TraceDeps, "sql" | "clickhouse">,
  tenantId: string,
  { kind, needs }: SubjectOrder,
  keys: readonly EvaluatedKey[],
): Promise<Subject[]> {
  const runs = await readEvaluatedRuns(deps, tenantId, keys, { children: needs.children });
  const references = needs.reference ? await readReferences(deps, tenantId, runs) : new Map<string, Reference>();
  const subjects: Subject[] = [];
  for (const run of runs) {
    const reference = run.reference_example_id === null ? undefined : references.get(run.reference_example_id);
    const thread = needs.thread && run.thread_id !== null ? await readThread(deps, tenantId, run) : undefined;
    subjects.push({ kind, run, reference, ...(needs.thread && { thread: thread ?? [run] }) });
  }
  return subjects;
}

async function readReferences(
  { sql }: Pick<TraceDeps, "sql">,
  tenantId: string,
  runs: readonly EvaluatedRun[],
): Promise<Map<string, Reference>> {
  const ids = [...new Set(runs.flatMap((run) => run.reference_example_id ?? []))];
  if (ids.length === 0) return new Map();
  const found = await listExamples(
    sql,
    tenantId,
    { id: ids, as_of: "latest" },
    { order: "id", descending: undefined, select: undefined, limit: ids.length, offset: 0 },
  );
  return new Map(
    found.map(({ item }) => {
      const { id, inputs, outputs, metadata } = JSON.parse(item) as Reference & { id: string };
      return [id, { inputs, outputs, metadata: metadata ?? {} }];
    }),
  );
}

/** Reads the turns of a run's thread up to the newest, oldest first. */
async function readThread(
  deps: Pick<TraceDeps, "clickhouse">,
  tenantId: string,
  run: EvaluatedRun,
): Promise<EvaluatedRun[]> {
  const scope = RunScope.ofTenant(tenantId);
  const selection = { projects: [run.project_id], threads: [run.thread_id!], is_head: true };
  const statement = ch`select r.id, r.project_id, r.start_time, r.trace_id ${fromRuns(scope, selection)}
    order by r.start_time desc, r.id desc limit ${bind("UInt32", MAX_TURNS)}`;
  const keys = await readRows<EvaluatedKey>(deps.clickhouse.forTenant(tenantId), "evaluators.thread", statement);
  return readEvaluatedRuns(deps, tenantId, keys.toReversed());
}
