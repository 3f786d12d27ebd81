import { setTimeout as sleep } from "node:timers/promises";

import type { Message, PostResult } from "../../base/webhooks/post-webhook.ts";

type Answering = (request: Request) => Promise<Response>;

/**
 * Makes one attempt to this server itself, without the network: to a route of the project's own HTTP app, for instance.
 */
export async function postHere(answering: Answering | null, message: Message): Promise<PostResult> {
  const { url, headers, body, timeoutMs } = message;
  const respond = answering ?? (() => Promise.reject(new Error("no route handles the request")));
  const answer = respond(new Request(new URL(url, "http://localhost"), { method: "POST", headers, body }))
    .then(async (response) => {
      // user code may stream without end
      await response.body?.cancel().catch(() => {});
      return { statusCode: response.status, error: null };
    })
    .catch((error: unknown) => ({
      statusCode: null,
      error: `The server's own route failed: ${(error as Error).message}`,
    }));
  const late = sleep(timeoutMs, undefined, { ref: false }).then(() => ({
    statusCode: null,
    error: `No response within ${timeoutMs} ms.`,
  }));
  return { ...(await Promise.race([answer, late])), blocked: false, retryAfterMs: 0 };
}
