import type { Definition, SubjectKind } from "./definition.ts";

/** A run as evaluators see it. Times: ISO 8601. Tokens and costs of a root are those of its trace. */
export interface EvaluatedRun {
  id: string;
  trace_id: string;
  project_id: string;
  name: string;
  run_type: string;
  start_time: string;
  end_time: string | null;
  error: string | null;
  inputs: unknown;
  outputs: unknown;
  metadata: Record<string, unknown>;
  tags: string[];
  thread_id: string | null;
  reference_example_id: string | null;
  parent_run_id: string | null;
  total_tokens: number | null;
  total_cost: string | null;
  /** The other runs of its trace by start, where the evaluator asks for them. */
  children?: EvaluatedRun[];
}

export interface Reference {
  inputs: unknown;
  outputs: unknown;
  metadata: Record<string, unknown>;
}

export interface Subject {
  kind: SubjectKind;
  run: EvaluatedRun;
  reference?: Reference | undefined;
  /** Turns of the thread, oldest first. */
  thread?: EvaluatedRun[];
  /** The other run of a pair. */
  other?: EvaluatedRun;
}

export interface Score {
  key: string;
  score: number | boolean | null;
  value: string | number | boolean | null;
  comment: string | null;
}

export interface Judgement {
  evaluator_id: string;
  evaluator_name: string;
  version: number;
  feedback: Score[];
  cost_usd: string | null;
  /** The judge's own trace. */
  judge_run_id: string | null;
  judge_project_id: string | null;
  /** Why there is no feedback; null after success. */
  error: string | null;
  /** Metadata of the judgement for the source of its feedback, such as `rule_id`. */
  metadata: Record<string, unknown>;
}

/** A version of an evaluator, ready to judge. */
export interface LoadedEvaluator {
  id: string;
  tenant_id: string;
  name: string;
  version: number;
  definition: Definition;
  feedback_keys: string[];
  /** What its subjects must contain beside the run. */
  needs: { children: boolean; thread: boolean; other: boolean; reference: boolean };
}
