import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { startCall } from "../models/call-model.ts";
import { preparePrompt } from "./prepare-prompt.ts";
import { missingVariables, promptVariables, renderPrompt } from "./prompt.ts";
import { buildRequest, resolveModel, runMetadata, toWireEvent } from "./run-prompt.ts";
import { readRun } from "./read-run.ts";
import * as schema from "./schema.ts";
import { eventStream, type WireEvent } from "../../base/events/event-stream.ts";

const tag = "Playground";

/** Routes of the playground: prompts on real calls. */
export function playgroundRoutes(deps: TraceDeps): Route[] {
  return [
    route({
      tag,
      method: "POST",
      ...v1("/playground/stream"),
      permission: "models:call",
      audit: "data",
      summary: "Run a prompt on a model, and stream the answer as server-sent events",
      body: schema.streamBody,
      out: { 200: "text/event-stream" },
      errors: [402, 404, 424],
      async handler({ body, principal }) {
        const { workspaceId } = principal;
        const prepared = await preparePrompt(deps, principal, body);
        const connection = await resolveModel(deps, workspaceId, prepared, body.model);
        const request = buildRequest(connection, prepared, body.variables, body);
        const source = body.source_run_id == null ? {} : { heddle_source_run_id: body.source_run_id };
        const controller = new AbortController();
        const { start, events } = await startCall(
          deps,
          principal,
          {
            request,
            project: { name: body.project },
            runName: body.run_name,
            tags: body.tags,
            metadata: runMetadata(prepared, connection, { ...body.metadata, ...source }),
            referenceExampleId: body.reference_example_id ?? undefined,
            timeoutSeconds: body.timeout_seconds,
          },
          controller.signal,
        );
        async function* wire(): AsyncGenerator<WireEvent, void> {
          try {
            yield { event: "start", data: { ...start, messages: request.messages, notes: prepared.notes } };
            for await (const event of events) yield toWireEvent(event);
          } finally {
            await events.return(undefined);
          }
        }
        return eventStream(wire(), controller, body.timeout_seconds * 1000);
      },
    }),
    route({
      tag,
      method: "POST",
      ...v1("/playground/render"),
      permission: "models:read",
      audit: "none",
      summary: "Render a prompt without calling a model, and list its variables",
      body: schema.renderBody,
      out: { 200: schema.rendered },
      errors: [404],
      async handler({ body, principal, c }) {
        const { prompt, notes } = await preparePrompt(deps, principal, body);
        const missing = missingVariables(prompt, { ...prompt.defaults, ...body.variables });
        const messages = missing.length > 0 ? null : renderPrompt(prompt, body.variables);
        return c.json({ messages, variables: promptVariables(prompt), missing, notes });
      },
    }),
    route({
      tag,
      method: "GET",
      ...v1("/playground/from-run/:run_id"),
      permission: "runs:read",
      summary: "Get a traced call to a model, or the first one below a run, as input of the playground",
      params: schema.runParams,
      out: { 200: schema.opened },
      errors: [404],
      handler: async ({ params, principal, c }) => c.json(await readRun(deps, principal.workspaceId, params.run_id)),
    }),
  ];
}
