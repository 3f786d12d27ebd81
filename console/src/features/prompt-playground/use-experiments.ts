import { useEffect, useRef, useState } from "react";

import { traceApi } from "../../api/clients.ts";
import { readEvents } from "../../api/read-events.ts";
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
}

interface ExperimentEvent {
  session_id?: string;
  examples?: number;
  repetitions?: number;
  error?: { message?: string } | null;
  message?: string;
  /** Reason for which the server ended the experiment early. */
  stopped?: string | null;
}

/** Runs each column over a dataset as an experiment. A closed dialog cancels the ones that run. */
export function useExperiments() {
  const [experiments, setExperiments] = useState<Experiment[]>([]);
  const controller = useRef<AbortController | null>(null);
  useEffect(() => () => controller.current?.abort(), []);
  const update = (index: number, change: (before: Experiment) => Experiment) =>
    setExperiments((list) => list.with(index, change(list[index]!)));

  const runOne = async (index: number, body: Record<string, unknown>, signal: AbortSignal) => {
    try {
      const options = { body: body as never, parseAs: "stream" as const, signal };
      const { data: stream } = await traceApi.POST("/api/v1/datasets/playground_experiment/stream", options);
      for await (const { event, data } of readEvents(stream as unknown as ReadableStream<Uint8Array>)) {
        const content = JSON.parse(data) as ExperimentEvent;
        update(index, (before) => applyExperimentEvent(before, event, content));
      }
      update(index, (before) =>
        before.status === "running" ? { ...before, status: "failed", error: "The server closed the stream." } : before,
      );
    } catch (error) {
      const status = signal.aborted ? "cancelled" : "failed";
      update(index, (before) => ({ ...before, status, error: signal.aborted ? null : (error as Error).message }));
    }
  };
  /** @throws when a prompt or a model is incomplete */
  const start = (draft: Draft, options: ExperimentOptions) => {
    const bodies = draft.columns.map((_column, index) => experimentBody(draft, index, options));
    controller.current = new AbortController();
    const { signal } = controller.current;
    setExperiments(
      draft.columns.map(({ model }, index) => ({
        column: letter(index),
        model: model.model,
        status: "running",
        sessionId: null,
        done: 0,
        errors: 0,
        total: null,
        error: null,
      })),
    );
    void Promise.all(bodies.map((body, index) => runOne(index, body, signal)));
  };
  return { experiments, start, cancel: () => controller.current?.abort() };
}

export function applyExperimentEvent(before: Experiment, event: string, data: ExperimentEvent): Experiment {
  if (event === "start") {
    return {
      ...before,
      sessionId: data.session_id ?? null,
      total: (data.examples ?? 0) * (data.repetitions ?? 1),
    };
  }
  if (event === "result") {
    const failed = data.error ?? null;
    // the first error stands for those of the same cause
    const error = before.error ?? failed?.message ?? null;
    return { ...before, done: before.done + 1, errors: before.errors + (failed ? 1 : 0), error };
  }
  if (event === "end") {
    const stopped = data.stopped ?? null;
    return { ...before, status: stopped === null ? "done" : "failed", error: stopped ?? before.error };
  }
  if (event === "error") return { ...before, status: "failed", error: data.message ?? "The experiment failed." };
  return before;
}

function experimentBody(draft: Draft, index: number, options: ExperimentOptions): Record<string, unknown> {
  const column = draft.columns[index]!;
  const prompt = columnPrompt(draft, column);
  const { origin } = prompt;
  const time = new Date().toISOString().slice(0, 19).replace("T", " ");
  return {
    ...promptFields(prompt),
    model: modelField(column.model),
    secrets: {},
    use_or_fallback_to_workspace_secrets: true,
    options: {},
    project_name: `${origin?.repo ?? "playground"} ${letter(index)} ${column.model.model} ${time}`,
    dataset_id: options.datasetId,
    repetitions: options.repetitions,
    ...(options.maxExamples !== null && { max_examples: options.maxExamples }),
    ...(origin && { owner: origin.owner, repo_handle: origin.repo, commit: origin.commitHash }),
  };
}
