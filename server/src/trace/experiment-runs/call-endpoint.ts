/** Targets over HTTP: an assistant of an agent server, and any endpoint with JSON. */
import { retryAfterMs } from "../../../../host-kit/src/retry-after.ts";
import type { Principal } from "../../base/auth/principal.ts";
import { AppError, forbidden, unprocessable } from "../../base/errors.ts";
import { OutboundError } from "../../base/outbound/outbound-error.ts";
import { scrubSecrets } from "../../base/scrub-secrets.ts";
import { wellFormed } from "../../base/well-formed.ts";
import type { TraceDeps } from "../deps.ts";
import { readSecrets } from "../workspace-secrets/change-secrets.ts";
import {
  asOutputs,
  type ReadyTarget,
  type RowRun,
  type TargetAnswer,
  type TargetFailure,
  type TargetInput,
} from "./answer.ts";
import type { TargetOf } from "./schema.ts";
import { renderTemplate } from "./template.ts";

type EndpointTarget = TargetOf<"assistant"> | TargetOf<"http">;

const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
const MAX_REQUEST_CHARACTERS = 16 * 1024 * 1024;
const MAX_MESSAGE = 2000;
const SECRET = /\{\{\s*secrets\.([A-Za-z_][A-Za-z0-9_.-]{0,127})\s*\}\}/g;
/** Headers whose values are credentials: they must come from secrets, which are encrypted. */
const CREDENTIAL = /authorization|cookie|token|secret|password|api-?key|signature|credential/i;

/**
 * Checks the URL and the headers of a target.
 * @throws 422 for a URL that is not permitted and a credential in plain text, 403 for secrets without the permission
 */
export function checkEndpoint(deps: Pick<TraceDeps, "outbound">, principal: Principal, target: EndpointTarget): void {
  try {
    deps.outbound.check(target.url);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw unprocessable(`target.url: ${error.message}`);
  }
  for (const [name, value] of Object.entries(target.headers)) {
    const keys = [...value.matchAll(SECRET)];
    const rest = value.replaceAll(SECRET, "");
    if (/[\0\r\n]/.test(value) || rest.includes("{{")) {
      throw unprocessable(`target.headers.${name}: must be one line; the only placeholders are {{secrets.KEY}}`);
    }
    if (CREDENTIAL.test(name) && keys.length === 0) {
      throw unprocessable(
        `target.headers.${name}: store its value as a secret of the workspace (POST /api/v1/workspaces/current/secrets), ` +
          "and write {{secrets.KEY}} here",
      );
    }
    // a caller who names the URL and the secret could send it anywhere, as a manager of model connections can
    if (keys.length > 0 && !principal.permissions.has("models:manage")) {
      throw forbidden(`Forbidden: the permission models:manage is required to send secrets (target.headers.${name}).`);
    }
  }
}

/** Prepares the calls of a target over HTTP. @throws 424 when a secret is not set */
export async function readyEndpoint(
  deps: TraceDeps,
  tenantId: string,
  target: EndpointTarget,
  experiment: { id: string; name: string },
  timeoutSeconds: number,
): Promise<ReadyTarget> {
  const { headers, secrets } = await readHeaders(deps, tenantId, target.headers);
  const name = target.type === "assistant" ? target.assistant_id : new URL(target.url).host;
  const url = target.type === "assistant" ? `${target.url.replace(/\/+$/, "")}/runs/wait` : target.url;
  return {
    name,
    metadata: { heddle_target: target.type, heddle_target_url: withoutQuery(target.url) },
    async call(input, run, signal) {
      const startedAt = new Date();
      const answer = (fields: Pick<TargetAnswer, "outputs" | "error">, metadata = {}): TargetAnswer => ({
        ...fields,
        startedAt,
        endedAt: new Date(),
        children: [],
        total_tokens: null,
        cost_usd: null,
        metadata,
      });
      const failed = (message: string, more: Partial<TargetFailure> = {}, metadata = {}) => {
        const text = wellFormed(scrubSecrets(hide(message, secrets)).slice(0, MAX_MESSAGE));
        return answer(
          { outputs: null, error: { message: text, retryable: false, retryAfterSeconds: null, ...more } },
          metadata,
        );
      };
      const body = JSON.stringify(composeBody(target, input, run, experiment));
      if (body.length > MAX_REQUEST_CHARACTERS) return failed("The request for this example is larger than 16 MB.");
      let response: Response;
      try {
        response = await deps.outbound.fetch(
          url,
          {
            method: target.type === "http" ? target.method : "POST",
            headers: { ...headers, "content-type": "application/json", "idempotency-key": `${run.id}.${run.attempt}` },
            body,
            signal,
            redirect: "error",
          },
          {
            headersMs: timeoutSeconds * 1000,
            bodyMs: timeoutSeconds * 1000,
            totalMs: timeoutSeconds * 1000,
            maxBytes: MAX_RESPONSE_BYTES,
          },
        );
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof OutboundError)) throw error;
        return failed(error.message, { retryable: error.reason === "network" || error.reason === "timeout" });
      }
      const text = await response.text();
      const linked = target.type === "assistant" ? agentRun(response) : {};
      if (response.status >= 400) {
        const retryable = response.status >= 500 || response.status === 429 || response.status === 408;
        const retryAfterSeconds = readRetryAfter(response);
        return failed(
          `${name} answered with status ${response.status}: ${text}`,
          { retryable, retryAfterSeconds },
          linked,
        );
      }
      let output: unknown;
      try {
        output = text.trim() === "" ? null : (JSON.parse(text) as unknown);
      } catch {
        return failed(`${name} answered with what is not JSON: ${text.slice(0, 200)}`, {}, linked);
      }
      const problem = target.type === "assistant" ? graphError(output) : undefined;
      if (problem !== undefined) return failed(problem, {}, linked);
      const mapped = target.output == null ? output : renderTemplate(target.output, { output, ...input });
      return answer({ outputs: asOutputs(mapped), error: null }, linked);
    },
  };
}

function composeBody(
  target: EndpointTarget,
  input: TargetInput,
  run: RowRun,
  experiment: { id: string; name: string },
) {
  if (target.type === "http") return target.body == null ? input.inputs : renderTemplate(target.body, { ...input });
  return {
    assistant_id: target.assistant_id,
    input: target.input ? renderTemplate(target.input, { ...input }) : input.inputs,
    ...(target.config && { config: target.config }),
    ...(target.context && { context: target.context }),
    // links the agent's trace, in its own project, to the row's run
    metadata: {
      heddle_experiment_id: experiment.id,
      heddle_experiment: experiment.name,
      heddle_experiment_run_id: run.id,
      heddle_example_id: input.example_id,
    },
    on_disconnect: "cancel",
  };
}

/** Returns the run of the agent server, whose trace has the same id. */
function agentRun(response: Response): Record<string, unknown> {
  const id = /\/runs\/([0-9a-f-]{36})/i.exec(response.headers.get("content-location") ?? "")?.[1];
  return id === undefined ? {} : { heddle_agent_run_id: id };
}

function graphError(output: unknown): string | undefined {
  const error = (output as { __error__?: { error?: unknown; message?: unknown } } | null)?.__error__;
  if (error === undefined) return undefined;
  const { error: kind, message } = error;
  return [kind, message].filter((text) => typeof text === "string" && text !== "").join(": ") || "The graph failed.";
}

async function readHeaders(deps: TraceDeps, tenantId: string, templates: Record<string, string>) {
  const keys = new Set(Object.values(templates).flatMap((value) => [...value.matchAll(SECRET)].map(([, key]) => key!)));
  const secrets = await readSecrets(deps, tenantId, [...keys]);
  const missing = [...keys].find((key) => !secrets.has(key));
  if (missing !== undefined) {
    throw new AppError(
      424,
      `The target needs the workspace secret ${missing}, which is not set. Set it: POST /api/v1/workspaces/current/secrets`,
    );
  }
  const headers = Object.fromEntries(
    Object.entries(templates).map(([name, value]) => [
      name.toLowerCase(),
      value.replaceAll(SECRET, (_, key: string) => secrets.get(key)!),
    ]),
  );
  return { headers, secrets: [...secrets.values()] };
}

function hide(text: string, secrets: string[]): string {
  let shown = text.slice(0, 16 * MAX_MESSAGE);
  for (const value of secrets) if (value.length >= 4) shown = shown.replaceAll(value, "…");
  return shown;
}

function readRetryAfter(response: Response): number | null {
  const ms = retryAfterMs(response.headers.get("retry-after"));
  return ms ? Math.min(Math.ceil(ms / 1000), 300) : null;
}

const withoutQuery = (url: string): string => url.replace(/[?#].*$/, "");
