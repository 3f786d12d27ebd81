import { Writable } from "node:stream";

import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { logTo } from "../../base/log.ts";

test("info logs tell in one line each when a host is ready and how a run ended", async () => {
  const lines: Record<string, unknown>[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
      done();
    },
  });
  const { call } = await testAgentServer({}, undefined, { log: logTo("info", sink) });
  const thread = (await call("POST", "/threads", {})).json.thread_id as string;
  const { json } = await call("POST", `/threads/${thread}/runs`, { assistant_id: "trail", input: {} });
  await call("GET", `/threads/${thread}/runs/${json.run_id}/join`);
  const about = { level: 30, run: json.run_id, thread, graph: "trail", attempt: 1, ms: expect.any(Number) };
  await expect.poll(() => lines.filter(({ run }) => run !== undefined)).toMatchObject([about]);
  expect(lines.find(({ run }) => run !== undefined)!["msg"]).toMatch(/^run ended: (success|error)$/);
  expect(lines).toContainEqual(expect.objectContaining({ level: 30, msg: "a graph host is ready" }));
});
