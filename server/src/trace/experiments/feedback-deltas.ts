import { AppError } from "../../base/errors.ts";
import { SSE_HEADERS, sseFrame, textBody } from "../../base/events/sse.ts";
import type { TraceDeps } from "../deps.ts";
import { RunScope } from "../runs/run-scope.ts";
import type { Deltas, DeltaQuery } from "./delta-schema.ts";
import { examplesPassing } from "./experiment-runs.ts";
import { readValues } from "./experiment-values.ts";
import { findLowerIsBetter } from "./scores-sql.ts";
import { SAME } from "./summarize-deltas.ts";

/**
 * Lists, by feedback key and experiment, the examples whose average score is better or worse than in the baseline. Each
 * list is paged by itself.
 *
 * @throws 404 for an experiment that is not in the workspace, 422 for one of another dataset, 400 for an invalid filter
 */
export async function feedbackDeltas(
  deps: TraceDeps,
  tenantId: string,
  datasetId: string,
  query: Omit<DeltaQuery, "filters"> & Partial<Pick<DeltaQuery, "filters">>,
  keys: string[],
): Promise<Map<string, Deltas>> {
  const experiments = [...new Set([query.baseline_session_id, ...query.comparison_session_ids])];
  const only = query.filters ? await examplesPassing(deps, RunScope.ofTenant(tenantId), query.filters) : undefined;
  const comparison = query.comparative_experiment_id;
  const order = { datasetId, experiments, keys, comparison, only };
  const { examples, experiments: found } = await readValues(deps, tenantId, order);
  const lower = await findLowerIsBetter(deps.sql, tenantId, keys);
  const [baseline, ...others] = found;
  const page = (places: number[]) =>
    places.slice(query.offset, query.offset + query.limit).map((place) => examples[place]!);
  return new Map(
    keys.map((key) => {
      const before = baseline!.values.get(`score:${key}`);
      const sign = lower.has(key) ? -1 : 1;
      const deltas: Deltas = {};
      for (const { experiment, values } of others) {
        const after = values.get(`score:${key}`);
        const improved: number[] = [];
        const regressed: number[] = [];
        for (let place = 0; place < examples.length; place++) {
          const delta = sign * ((after?.[place] ?? NaN) - (before?.[place] ?? NaN));
          if (delta > SAME) improved.push(place);
          else if (delta < -SAME) regressed.push(place);
        }
        deltas[experiment.id] = { improved_examples: page(improved), regressed_examples: page(regressed) };
      }
      return [key, deltas];
    }),
  );
}

/** Largest list per key of a stream, which has no pages. */
const STREAMED = 10_000;

/** Streams the deltas of each key as an event, with an error instead where one failed. */
export function streamDeltas(deps: TraceDeps, tenantId: string, datasetId: string, query: BatchQuery): Response {
  const frames = deltaFrames(deps, tenantId, datasetId, query);
  // the reader has left, so a failed end cannot be reported
  const onLeave = () => void frames.return(undefined).catch(() => {});
  return new Response(textBody(frames, { onLeave }), { headers: SSE_HEADERS });
}

interface BatchQuery extends Pick<DeltaQuery, "baseline_session_id" | "comparison_session_ids"> {
  filters?: DeltaQuery["filters"];
  feedback_keys: string[];
}

async function* deltaFrames(
  deps: TraceDeps,
  tenantId: string,
  datasetId: string,
  { feedback_keys: keys, ...query }: BatchQuery,
): AsyncGenerator<Uint8Array, void> {
  for (const key of new Set(keys)) {
    let data: object;
    try {
      const page = { ...query, offset: 0, limit: STREAMED };
      const deltas = await feedbackDeltas(deps, tenantId, datasetId, page, [key]);
      data = { feedback_deltas: Object.fromEntries(deltas), errors: null };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      data = { feedback_deltas: {}, errors: { [key]: error.message } };
    }
    yield sseFrame(undefined, "data", JSON.stringify(data));
  }
  yield sseFrame(undefined, "end", "null");
}
