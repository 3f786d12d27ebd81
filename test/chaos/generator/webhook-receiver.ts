import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import type { History } from "../history.ts";

export interface WebhookReceiver {
  url: string;
  close(): Promise<void>;
}

/** Records all webhooks it receives; rejects some and responds to others too late, so that they are retried. */
export async function startWebhookReceiver(history: History, random: () => number): Promise<WebhookReceiver> {
  const server = createServer(async (request, response) => {
    const { run_id, status } = JSON.parse(await text(request)) as { run_id: string; status: string };
    const chance = random();
    const answered = chance < 0.1 ? 500 : 200;
    history.hook({ id: String(request.headers["webhook-id"]), run: run_id, status, answered });
    response.writeHead(answered);
    // later than HEDDLE_WEBHOOK_TIMEOUT_MS
    if (chance > 0.95) setTimeout(() => response.end(), 2500).unref();
    else response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
