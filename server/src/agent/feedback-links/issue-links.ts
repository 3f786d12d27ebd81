/**
 * Feedback links of a run (`feedback_keys`): the trace platform that gets the run's trace issues a token per key and
 * serves the links. They are issued before the run is accepted, so that a caller gets either the links or an error.
 * Where runs are not traced, they run without links: clients send the keys in every environment. The platform accepts tokens for runs that it does not know yet.
 */
import { setTimeout as sleep } from "node:timers/promises";

import { z } from "zod";

import type { TraceDestination } from "../../../../host-kit/src/host-protocol.ts";
import { AppError, unavailable, unprocessable } from "../../base/errors.ts";

/** Feedback keys and the URLs that accept the feedback. */
export type FeedbackLinks = Record<string, string>;

const LIMIT_MS = 10_000;
/** Longest start of a trace platform on a busy machine. */
const START_MS = 20_000;

/** Response that LangSmith's API gives as well, so the platform may be LangSmith itself. */
const linksSchema = z.array(z.object({ feedback_key: z.string().nullish(), url: z.url() }).loose());

/**
 * @param destination the current destination of run traces
 * @param minutes lifetime of the links
 * @param patienceMs longest wait for a platform that is starting
 * @returns undefined where no platform gets traces
 * @throws 503 while it starts or is unreachable; 422 where it rejects; 502 for an unexpected response
 */
export async function issueFeedbackLinks(
  destination: () => TraceDestination,
  runId: string,
  keys: string[],
  minutes: number,
  patienceMs = START_MS,
): Promise<FeedbackLinks | undefined> {
  const to = await settled(destination, patienceMs);
  if (to.state === "waiting")
    throw unavailable("feedback_keys: the trace platform, which issues the links, is starting. Try again later.");
  if (to.state !== "on") return undefined;
  const expires_in = { days: 0, hours: Math.floor(minutes / 60), minutes: Math.ceil(minutes % 60) };
  const body = JSON.stringify(keys.map((feedback_key) => ({ run_id: runId, feedback_key, expires_in })));
  const headers = { "Content-Type": "application/json", ...(to.key !== null && { "x-api-key": to.key }) };
  const url = `${to.url}/feedback/tokens`;
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(LIMIT_MS) });
    text = await response.text();
  } catch (error) {
    throw new AppError(503, "feedback_keys: the trace platform, which issues the links, does not answer.", {
      headers: { "Retry-After": "1" },
      cause: error,
    });
  }
  if (!response.ok) throw rejection(response.status, text);
  const tokens = linksSchema.safeParse(parse(text));
  if (!tokens.success || tokens.data.length !== keys.length) {
    throw new AppError(502, "feedback_keys: the trace platform returned an invalid response.");
  }
  return Object.fromEntries(keys.map((key, i) => [key, tokens.data[i]!.url]));
}

/** Waits for the platform. `heddle dev` serves agents some seconds before it is up. */
async function settled(destination: () => TraceDestination, patienceMs: number): Promise<TraceDestination> {
  const deadline = performance.now() + patienceMs;
  while (destination().state === "waiting" && performance.now() < deadline) await sleep(100);
  return destination();
}

function rejection(status: number, text: string): AppError {
  if (status === 429 || status >= 500) {
    return unavailable(`feedback_keys: the trace platform could not issue the links now (${status}).`);
  }
  const why =
    status === 401 || status === 403
      ? "its key (HEDDLE_TRACING_KEY) lacks the permission feedback:create"
      : text.slice(0, 300);
  // a permanent failure must not be a 5xx, because clients retry those
  return unprocessable(`feedback_keys: the trace platform did not issue the links (${status}): ${why}.`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
