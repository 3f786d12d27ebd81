import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import {
  changeExperiment,
  isOver,
  type Job,
  type JobCreate,
  jobQuery,
  startExperiment,
} from "../experiment-runs/queries.ts";
import { modelField, promptFields } from "./build-request.ts";
import { columnPrompt, type Draft, letter } from "./draft.ts";

export interface Experiment {
  column: string;
  model: string;
  status: "running" | "done" | "failed" | "cancelled";
  sessionId: string | null;
  done: number;
  errors: number;
  /** Null until the server has counted the examples. */
  total: number | null;
  error: string | null;
}

export interface ExperimentOptions {
  datasetId: string;
  /** Null for all examples. */
  maxExamples: number | null;
  repetitions: number;
  /** Ids of evaluators. */
  evaluators: string[];
}

/** A column's experiment: being created, created, or rejected. */
interface Started {
  column: string;
  model: string;
  id: string | null;
  error: string | null;
}

const STATUS = {
  pending: "running",
  running: "running",
  completed: "done",
  stopped: "failed",
  cancelled: "cancelled",
} as const;

/** Runs each column over a dataset as an experiment of the platform, which continues when the dialog is closed. */
export function useExperiments() {
  const client = useQueryClient();
  const [started, setStarted] = useState<Started[]>([]);
  const jobs = useQueries({
    queries: started.map(({ id }) => ({ ...jobQuery(id ?? "none"), enabled: id !== null })),
  });
  /** @throws when a prompt or a model is incomplete */
  const start = (draft: Draft, options: ExperimentOptions) => {
    const bodies = draft.columns.map((_column, index) => experimentBody(draft, index, options));
    setStarted(
      draft.columns.map(({ model }, index) => ({ column: letter(index), model: model.model, id: null, error: null })),
    );
    bodies.forEach((body, index) => {
      const update = (change: Partial<Started>) =>
        setStarted((list) => list.with(index, { ...list[index]!, ...change }));
      startExperiment(body).then(
        ({ id }) => update({ id }),
        (error: Error) => update({ error: error.message }),
      );
    });
  };
  const experiments = started.map((each, index) => toExperiment(each, jobs[index]?.data));
  const cancel = async () => {
    const open = started.filter(({ id }, index) => id !== null && !isOver(jobs[index]?.data?.status ?? "pending"));
    await Promise.all(open.map(({ id }) => changeExperiment(id!, "cancel")));
    await client.invalidateQueries({ queryKey: ["experiment-run"] });
  };
  return { experiments, start, cancel };
}

function toExperiment({ column, model, id, error }: Started, job: Job | undefined): Experiment {
  const status = error === null ? STATUS[job?.status ?? "pending"] : "failed";
  return {
    ...{ column, model, status },
    sessionId: id,
    done: job?.progress.done ?? 0,
    errors: job?.progress.failed ?? 0,
    total: job?.progress.total ?? null,
    error: error ?? job?.reason ?? null,
  };
}

function experimentBody(draft: Draft, index: number, options: ExperimentOptions): JobCreate {
  const column = draft.columns[index]!;
  const prompt = columnPrompt(draft, column);
  const { origin } = prompt;
  const time = new Date().toISOString().slice(0, 19).replace("T", " ");
  const body = {
    name: `${origin?.repo ?? "playground"} ${letter(index)} ${column.model.model} ${time}`,
    dataset_id: options.datasetId,
    repetitions: options.repetitions,
    evaluators: options.evaluators.map((id) => ({ evaluator_id: id })),
    ...(options.maxExamples !== null && { max_examples: options.maxExamples }),
    target: {
      type: "prompt",
      ...promptFields(prompt),
      model: modelField(column.model),
      ...(origin && { prompt: { owner: origin.owner, repo: origin.repo, commit: origin.commitHash } }),
    },
  };
  return body as JobCreate;
}
