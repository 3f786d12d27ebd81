import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { batchBody, batchResult, experimentBody, invokeBody, invoked, MAX_BATCH_RUNS } from "./experiment-schema.ts";
import { invokePrompt } from "./invoke-prompt.ts";
import { startExperiment } from "./run-experiment.ts";
import { eventStream, type WireEvent } from "../../base/events/event-stream.ts";

const tag = "Playground";
const shared = { tag, method: "POST", permission: "models:call", audit: "data" } as const;
/** Time limit of an experiment. */
const LIMIT_MS = 6 * 3600 * 1000;

/** Routes of prompts over datasets, and of rendering a prompt. */
export function playgroundExperimentRoutes(deps: TraceDeps): Route[] {
  return [
    route({
      ...shared,
      ...v1("/datasets/playground_experiment/stream"),
      summary: "Run a prompt over a dataset as an experiment, and stream the results as server-sent events",
      body: experimentBody,
      out: { 200: "text/event-stream" },
      errors: [404, 409, 424],
      async handler({ body, principal }) {
        const controller = new AbortController();
        const { start, events } = await startExperiment(deps, principal, body, controller.signal);
        async function* wire(): AsyncGenerator<WireEvent, void> {
          yield { event: "start", data: start };
          yield* events;
        }
        return eventStream(wire(), controller, LIMIT_MS);
      },
    }),
    route({
      ...shared,
      ...v1("/datasets/playground_experiment/batch"),
      summary: `Run a prompt over a dataset as an experiment of at most ${MAX_BATCH_RUNS} calls, and return the results`,
      body: batchBody,
      out: { 200: batchResult },
      errors: [404, 409, 424],
      async handler({ body, principal, c }) {
        const concurrency = body.batch_size ?? body.options.max_concurrency;
        const options = { ...body.options, max_concurrency: concurrency };
        const order = { ...body, options };
        const { start, events } = await startExperiment(deps, principal, order, c.req.raw.signal, MAX_BATCH_RUNS);
        const results: object[] = [];
        let end = {};
        for await (const { event, data } of events) {
          if (event === "result") results.push(data as object);
          else end = data as object;
        }
        const { session_id, project_name, dataset_id } = start;
        return c.json({ session_id, project_name, dataset_id, results, ...end } as never);
      },
    }),
    route({
      tag,
      method: "POST",
      ...v1("/prompts/invoke_prompt"),
      permission: "prompts:read",
      audit: "none",
      summary: "Render a prompt of messages with inputs, without calling a model",
      body: invokeBody,
      out: { 200: invoked },
      handler: ({ body, c }) => c.json({ messages: invokePrompt(body) }),
    }),
  ];
}
