/** An agent server and the trace platform that keeps its metrics, with a connection between them that loses answers. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { afterAll, expect, test, vi } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const trace = await testTracePlatform();
let lost = 1;
const connection = createServer((request, response) => {
  let text = "";
  request.on("data", (chunk: Buffer) => (text += chunk.toString()));
  request.on("end", () => {
    void trace.call(request.method!, request.url!, JSON.parse(text)).then((answer) => {
      if (request.url === "/agent-metrics" && lost-- > 0) return response.destroy();
      return response.writeHead(answer.status).end(answer.text);
    });
  });
});
connection.listen(0, "127.0.0.1");
await once(connection, "listening");
afterAll(() => {
  connection.closeAllConnections();
  connection.close();
});
const url = `http://127.0.0.1:${(connection.address() as AddressInfo).port}`;
const { call, agent } = await testAgentServer({
  HEDDLE_TRACING_URL: url,
  LANGSMITH_PROJECT: "history",
  N_JOBS_PER_WORKER: "1",
});

test("has the history of runs, waits and the queue at the trace platform, once each although an answer was lost", async () => {
  const thread = async () => (await call("POST", "/threads", {})).json.thread_id as string;
  const start = async (id: string) =>
    (await call("POST", `/threads/${id}/runs`, { assistant_id: "slow", input: {} })).json.run_id as string;
  const [first, second] = [await thread(), await thread()];
  const running = await start(first);
  await start(second);
  const flush = () => agent.deps.history.flush();
  await vi.waitFor(
    async () => expect((await call("GET", "/queue")).json.counts).toEqual({ pending: 1, running: 1, waits: 0 }),
    20_000,
  );
  await expect(flush()).rejects.toThrow();
  await call("POST", `/threads/${first}/runs/${running}/cancel?wait=true`, {});
  await vi.waitFor(async () => expect((await call("GET", "/queue")).json.counts.running).toBe(1), 20_000);
  await flush();
  const sums = await trace.clickhouse.rows<{ kind: string; graph: string; n: number }>({
    name: "test",
    query: `select kind, graph, toUInt32(sum(count)) as n from agent_minutes final group by kind, graph order by kind, graph`,
  });
  expect(sums.map(({ kind, graph, n }) => [kind, graph, n])).toEqual([
    ["queue", "", 1],
    ["run", "slow", 1],
    ["wait", "slow", 2],
  ]);
});
