import type { Principal } from "../../base/auth/principal.ts";
import type { TraceDeps } from "../deps.ts";
import { startCall } from "./call-model.ts";
import { resolveConnection } from "./resolve-connection.ts";

const PROJECT = "playground";
const TIMEOUT_SECONDS = 30;
const MAX_TOKENS = 64;
/** Characters of the answer that are returned. */
const MAX_TEXT = 500;

/** Calls a connection's model once. @throws like a call of the playground, unless the provider fails */
export async function testConnection(
  deps: TraceDeps,
  principal: Principal,
  id: string,
  model: string | undefined,
  signal: AbortSignal,
) {
  const wanted = { connection_id: id, model, parameters: { max_tokens: MAX_TOKENS } };
  const connection = await resolveConnection(deps, principal.workspaceId, wanted);
  const request = {
    connection,
    messages: [{ role: "user" as const, content: "Answer with the word OK." }],
    tools: [],
  };
  const order = { request, project: { name: PROJECT }, runName: "connection test", timeoutSeconds: TIMEOUT_SECONDS };
  const { start, events } = await startCall(deps, principal, order, signal);
  const result = { model: connection.model, run_id: start.run_id };
  for await (const { type, data } of events) {
    if (type === "end") {
      const text = data.answer.content.slice(0, MAX_TEXT);
      return { ...result, ok: true, latency_ms: data.latency_ms, text, error: null };
    }
    if (type === "error") {
      const { kind, status, message, retry_after_seconds, latency_ms } = data;
      return { ...result, ok: false, latency_ms, text: null, error: { kind, status, message, retry_after_seconds } };
    }
  }
  throw new Error("a model call ended without a result");
}
