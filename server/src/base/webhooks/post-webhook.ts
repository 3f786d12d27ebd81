import type { Dispatcher } from "undici";
import { request } from "undici";

import { retryAfterMs } from "../../../../host-kit/src/retry-after.ts";
import { OutboundError } from "../outbound/outbound-error.ts";
import type { Outbound } from "../outbound/outbound.ts";

export interface Message {
  url: string;
  headers: Record<string, string>;
  body: string;
  timeoutMs: number;
}

export interface PostResult {
  statusCode: number | null;
  /** Reason why there was no response. Contains no address that a host name resolved to. */
  error: string | null;
  /** Whether the operator's network rules forbid the address. */
  blocked: boolean;
  /** Milliseconds from the receiver's Retry-After. */
  retryAfterMs: number;
}

/** Limits for reading a response body, which is discarded; a receiver that sends more is disconnected. */
const DISCARDED_BYTES = 64 * 1024;
const DISCARD_MS = 1000;

/** Longest pause that a receiver may ask for: a day. */
const LONGEST_PAUSE_MS = 86_400_000;

/**
 * Makes one attempt. The status is the answer, and a body is waited for no longer than a second: a receiver that
 * streams one without end has still responded. Redirects are not followed: Standard Webhooks treats them as
 * failures, and they would send the body to an unchecked address.
 */
export async function postWebhook(outbound: Outbound, message: Message): Promise<PostResult> {
  const { url, headers, body, timeoutMs } = message;
  const overdue = AbortSignal.timeout(timeoutMs);
  try {
    const { dispatcher } = outbound;
    const response = await request(url, {
      dispatcher,
      method: "POST",
      headers,
      body,
      signal: overdue,
      headersTimeout: timeoutMs,
    });
    await discard(response);
    const { statusCode } = response;
    const pauseMs = Math.min(retryAfterMs(response.headers["retry-after"]) ?? 0, LONGEST_PAUSE_MS);
    return { statusCode, error: null, blocked: false, retryAfterMs: pauseMs };
  } catch (thrown) {
    const blocked = thrown instanceof OutboundError && (thrown.reason === "blocked" || thrown.reason === "bad_url");
    return { statusCode: null, error: describe(thrown, overdue.aborted, timeoutMs), blocked, retryAfterMs: 0 };
  }
}

/** Reads short responses, so that their connection can be reused; disconnects the others. */
async function discard({ body }: Dispatcher.ResponseData): Promise<void> {
  // an unhandled stream error would end the process
  body.on("error", () => {});
  const late = setTimeout(() => body.destroy(), DISCARD_MS);
  let received = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      received += chunk.length;
      if (received > DISCARDED_BYTES) break;
    }
  } catch {
    // the status has been received
  } finally {
    clearTimeout(late);
    body.destroy();
  }
}

function describe(thrown: unknown, overdue: boolean, timeoutMs: number): string {
  if (thrown instanceof OutboundError) return thrown.message;
  const { code = "" } = thrown as { code?: string };
  if (overdue || code === "UND_ERR_HEADERS_TIMEOUT") return `No response within ${timeoutMs} ms.`;
  if (code === "UND_ERR_CONNECT_TIMEOUT") return "The receiver did not accept the connection in time.";
  return `The receiver could not be called: ${code || "invalid response"}.`;
}
