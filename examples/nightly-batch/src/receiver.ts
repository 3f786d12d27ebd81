/**
 * Receives the webhooks of the digest's runs: tsx --env-file=.env src/receiver.ts WEBHOOK
 *
 * It verifies each message's signature and age, and handles a message once: after a crash Heddle may send one again.
 */
import { createServer } from "node:http";

import { Webhook, WebhookVerificationError } from "standardwebhooks";

interface Message {
  run_id: string;
  status: string;
  values?: { digest?: string };
  error?: { message: string };
}

const secret = process.env["HEDDLE_WEBHOOK_SECRETS"];
if (!secret) throw new Error("HEDDLE_WEBHOOK_SECRETS must be the secret that the server signs with.");
const webhook = new Webhook(secret);
const MAX_BYTES = 1_000_000;
/** A database in production: the ids must outlive the process. */
const handled = new Set<string>();

const server = createServer(async (request, response) => {
  const answer = (status: number) => response.writeHead(status).end();
  let body = "";
  for await (const part of request.setEncoding("utf8")) {
    body += part;
    if (body.length > MAX_BYTES) return answer(413);
  }
  try {
    // over the bytes that were sent, not over parsed JSON
    webhook.verify(body, request.headers as Record<string, string>);
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    console.log(`rejected: ${error.message}`);
    return answer(401);
  }
  const { run_id, status, values, error } = JSON.parse(body) as Message;
  const id = String(request.headers["webhook-id"]);
  if (!handled.has(id)) {
    handled.add(id);
    console.log(`verified: run ${run_id} ended with ${status}: ${values?.digest ?? error?.message ?? "no result"}`);
  }
  return answer(204);
});
const { port, hostname } = new URL(process.argv[2] ?? "http://127.0.0.1:4000");
server.listen(Number(port), hostname, () => console.log("waiting for webhooks"));
