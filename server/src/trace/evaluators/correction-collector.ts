/**
 * Makes examples of the judgements that people corrected. The change of a correction and its row in
 * `corrected_judgements` are one statement, and the row is deleted after the example is stored, so a crash loses none.
 * The example of an evaluator and a run is computed from all corrections there while its dataset is locked: repetitions
 * and concurrent changes end with the newest state.
 */
import { uuid5 } from "../../base/ids.ts";
import { AppError } from "../../base/errors.ts";
import { cleanStrings } from "../../base/http/json-body.ts";
import { Poller } from "../../base/polling/poller.ts";
import { findDatasetRow } from "../datasets/sql.ts";
import type { TraceDeps } from "../deps.ts";
import { findExampleDatasets } from "../examples/sql.ts";
import { addExamples, changeExamples, deleteExamples } from "../examples/write-examples.ts";
import { bindVariables } from "./bind-variables.ts";
import { readCorrection } from "./compare-with-people.ts";
import * as rows from "./correction-sql.ts";
import type { LlmDefinition } from "./definition.ts";
import { loadEvaluator } from "./load-evaluator.ts";
import { loadSubjects } from "./load-subjects.ts";
import { prepareJudge } from "./prepare-judge.ts";
import type { LoadedEvaluator } from "./schema.ts";
import { systemPrincipal } from "./system-principal.ts";

const POLL_MS = 10_000;
const BATCH = 20;
/** Pause after a failed attempt, and the time a dead process delays its corrections. */
const LEASE_SECONDS = 60;
const MAX_ATTEMPTS = 10;
const NAMESPACE = "6c3fd0c3-5b52-5e57-9d5a-0a0b6a1f7c55";

export class CorrectionCollector {
  readonly #deps: TraceDeps;
  readonly #poller: Poller;

  constructor(deps: TraceDeps) {
    this.#deps = deps;
    this.#poller = new Poller({
      pass: () => this.#pass(),
      everyMs: POLL_MS,
      log: deps.log,
      failing: "could not make examples of corrected judgements; will retry",
    });
  }

  start(): void {
    this.#poller.start();
  }

  wake(): void {
    this.#poller.wake();
  }

  async stop(): Promise<void> {
    await this.#poller.stop();
  }

  async #pass(): Promise<number | void> {
    const { sql, log } = this.#deps;
    const claimed = await rows.claimCorrections(sql, BATCH, LEASE_SECONDS);
    for (const row of claimed) {
      try {
        await collect(this.#deps, row);
        await rows.deleteCorrection(sql, row);
      } catch (error) {
        const isFinal = row.attempts >= MAX_ATTEMPTS || (error instanceof AppError && error.status < 500);
        if (isFinal) await rows.deleteCorrection(sql, row);
        const { tenant_id, feedback_id } = row;
        log.warn({ err: error, tenant_id, feedback_id, isFinal }, "a corrected judgement became no example");
      }
    }
    return claimed.length === BATCH ? 0 : undefined;
  }
}

async function collect(deps: TraceDeps, { tenant_id: tenantId, feedback_id: id }: rows.CorrectedJudgement) {
  const judged = await rows.findJudgedRun(deps.sql, tenantId, id);
  const evaluator = judged && (await loadEvaluator(deps, tenantId, judged.evaluator_id));
  if (!judged || !evaluator || evaluator.definition.type !== "llm") return;
  const { definition } = evaluator;
  const datasetId = definition.few_shot?.dataset_id;
  if (datasetId == null) return;
  const inputs = await readInputs(deps, evaluator, definition, judged);
  const exampleId = uuid5(`${evaluator.id} ${judged.id}`, NAMESPACE);
  const isEmpty = await deps.sql.begin(async (tx) => {
    if (!(await findDatasetRow(tx, tenantId, datasetId, "lock"))) return false;
    const corrections = await rows.findCorrectionsOfRun(tx, tenantId, evaluator.id, judged.id);
    const found = await findExampleDatasets(tx, tenantId, [exampleId]);
    const isKnown = found.some(({ dataset_id }) => dataset_id === datasetId);
    if (corrections.length === 0) return isKnown;
    if (!inputs) return false;
    const example = { id: exampleId, inputs, source_run_id: judged.id, ...toOutputs(definition, corrections) };
    await (isKnown ? changeExamples : addExamples)(tx, tenantId, datasetId, [example]);
    return false;
  });
  // all corrections were taken back
  if (isEmpty) await deleteExamples(deps.sql, tenantId, [exampleId]);
}

/** Reads the values of the judge's variables; undefined for a deleted run. */
async function readInputs(
  deps: TraceDeps,
  evaluator: LoadedEvaluator,
  definition: LlmDefinition,
  judged: rows.JudgedRun,
): Promise<Record<string, unknown> | undefined> {
  const { tenant_id: tenantId, needs } = evaluator;
  const [subject] = await loadSubjects(deps, tenantId, { kind: definition.subject, needs }, [judged]);
  if (!subject) return undefined;
  const { bindings } = await prepareJudge(deps, systemPrincipal(tenantId), definition);
  return cleanStrings(bindVariables(subject, bindings).values) as Record<string, unknown>;
}

function toOutputs({ scores }: LlmDefinition, corrections: readonly rows.Correction[]) {
  const outputs: Record<string, unknown> = {};
  const judged: Record<string, unknown> = {};
  for (const { key, correction, score, value, comment } of corrections) {
    const right = readCorrection(correction, key);
    if (!right) continue;
    const isBoolean = scores?.some((one) => one.key === key && one.type === "boolean");
    const given = right.value ?? right.score;
    outputs[key] = isBoolean && typeof given === "number" ? given !== 0 : given;
    judged[key] = { score, value, comment };
  }
  return { outputs, metadata: { judged } };
}
