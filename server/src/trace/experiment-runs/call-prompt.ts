import type { Principal } from "../../base/auth/principal.ts";
import { AppError } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { type CallEvent, startCall } from "../models/call-model.ts";
import { preparePrompt } from "../playground/prepare-prompt.ts";
import { buildRequest, resolveModel, runMetadata } from "../playground/run-prompt.ts";
import type { ReadyTarget, TargetAnswer, TargetFailure } from "./answer.ts";
import { dottedOrder } from "./row-runs.ts";
import type { TargetOf } from "./schema.ts";
import { renderTemplate } from "./template.ts";

const TRANSIENT = new Set(["rate_limit", "provider", "network", "timeout", "malformed"]);

/**
 * Prepares the calls of a prompt to its model.
 * @throws 404 for an unknown commit, 422 for an invalid prompt or model, 424 without the secret of the connection
 */
export async function readyPrompt(
  deps: TraceDeps,
  principal: Principal,
  target: TargetOf<"prompt">,
  project: { id: string; name: string },
  timeoutSeconds: number,
): Promise<ReadyTarget> {
  const { prompt, manifest, tools, tool_choice, response_schema, variables } = target;
  const prepared = await preparePrompt(deps, principal, {
    manifest: manifest ?? undefined,
    commit: prompt ?? undefined,
    template_format: "none",
    variables: {},
  });
  const connection = await resolveModel(deps, principal.workspaceId, prepared, target.model ?? undefined);
  const metadata = { ...runMetadata(prepared, connection, {}), heddle_source: "experiment" };
  const options = { tools: tools ?? [], tool_choice, parallel_tool_calls: undefined, response_schema };
  return {
    name: prompt?.repo ?? "prompt",
    metadata,
    async call(input, run, signal) {
      const startedAt = new Date();
      const child: Record<string, unknown> = {};
      const end = (
        answer: Pick<TargetAnswer, "outputs" | "error"> & Partial<Pick<TargetAnswer, "total_tokens" | "cost_usd">>,
      ): TargetAnswer => ({
        total_tokens: null,
        cost_usd: null,
        ...answer,
        startedAt,
        endedAt: new Date(),
        children: "id" in child ? [child] : [],
        metadata: {},
      });
      const runId = uuid7();
      try {
        const values = variables ? renderTemplate(variables, { ...input }) : input.inputs;
        const request = buildRequest(connection, prepared, values as Record<string, unknown>, options);
        const order = {
          request,
          project,
          runId,
          runName: connection.model,
          metadata,
          timeoutSeconds,
          write: (_: "post" | "patch", fields: { start_time?: string }) => {
            Object.assign(child, fields);
            if (fields.start_time === undefined) return Promise.resolve();
            const place = dottedOrder({ id: run.id, at: startedAt }, { id: runId, at: new Date(fields.start_time) });
            Object.assign(child, { trace_id: run.id, parent_run_id: run.id, dotted_order: place });
            return Promise.resolve();
          },
        };
        const { events } = await startCall(deps, principal, order, signal);
        const last = await lastEvent(events);
        signal.throwIfAborted();
        if (last.type === "error") return end({ outputs: null, error: failureOf(last.data) });
        const { answer, usage, cost } = last.data;
        const { content, tool_calls: calls, structured, structured_error: invalid } = answer;
        const error = invalid ? { message: String(invalid), retryable: false, retryAfterSeconds: null } : null;
        return end({
          outputs: { output: structured ?? content, ...(calls.length > 0 && { tool_calls: calls }) },
          error,
          total_tokens: usage?.total_tokens ?? null,
          cost_usd: cost?.total ?? null,
        });
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof AppError)) throw error;
        const failure: TargetFailure = {
          message: error.message,
          retryable: error.status >= 500,
          retryAfterSeconds: null,
        };
        if (error.status === 402) failure.stop = error.message;
        return end({ outputs: null, error: failure });
      }
    },
  };
}

async function lastEvent(events: AsyncGenerator<CallEvent, void>): Promise<Exclude<CallEvent, { type: "delta" }>> {
  for await (const event of events) if (event.type !== "delta") return event;
  throw new Error("a model call ended without a result");
}

const failureOf = ({
  kind,
  message,
  retry_after_seconds: retryAfterSeconds,
}: Extract<CallEvent, { type: "error" }>["data"]): TargetFailure => ({
  message,
  retryable: TRANSIENT.has(kind),
  retryAfterSeconds,
});
