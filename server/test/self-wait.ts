/** A run that waits for another run of its own thread gets an error at once instead of a timeout. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { getRequestListener } from "@hono/node-server";
import { expect, test } from "vitest";

import { createAgentApp } from "../src/agent-app.ts";
import { testAgentServer } from "./agent-server.ts";
import { atEnd } from "./at-end.ts";
import { openGuard } from "./principal.ts";

/**
 * @param refused ways in which the fixture's graph waits for itself
 * @param ended ways that do not
 */
export function testSelfWait(config: string, refused: string[], ended: string[], env: Record<string, string> = {}) {
  const project = fileURLToPath(new URL(`fixtures/self-wait/${config}`, import.meta.url));

  test("a run that waits for its own thread is rejected with the reason, one that waits for another is not", async () => {
    let fetch: (request: Request) => Response | Promise<Response> = () => new Response(null, { status: 503 });
    const http: Server = createServer(getRequestListener((request) => fetch(request)));
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    atEnd(() => new Promise((resolve) => http.close(resolve)));
    const { port } = http.address() as AddressInfo;
    const { agent, call } = await testAgentServer(env, project, { internalUrl: `http://127.0.0.1:${port}` });
    const app = createAgentApp(agent.deps, openGuard);
    fetch = (request) => app.fetch(request);
    const answer = async (how: string) => {
      const { thread_id } = (await call("POST", "/threads", {})).json;
      const path = `/threads/${thread_id}/runs/wait`;
      const answered = call("POST", path, { assistant_id: "caller", input: { how } });
      const patience = sleep(40_000, "still waiting", { ref: false });
      return Promise.race([answered.then(({ json }) => JSON.stringify(json)), patience]);
    };
    const answers = await Promise.all([...refused, ...ended].map(answer));
    for (const [at, text] of answers.splice(refused.length).entries())
      expect(`${ended[at]}: ${text}`).not.toMatch(/wait for(?:ever| it forever)|\b409\b|still waiting|Error/);
    for (const [at, text] of answers.entries())
      expect(`${refused[at]}: ${text}`).toMatch(/would wait for(?:ever| it forever)|409 Conflict/);
  }, 120_000);
}
