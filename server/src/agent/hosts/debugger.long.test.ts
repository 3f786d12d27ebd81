import { expect, test } from "vitest";

import { freePort } from "../../base/free-port.ts";
import { testAgentServer } from "../../../test/agent-server.ts";

test("a debugger can attach to the only graph host, which executes runs meanwhile", async () => {
  const port = await freePort();
  const { call, agent } = await testAgentServer({ HEDDLE_DEBUG_PORT: String(port), HEDDLE_HOSTS: "3" });
  const { json } = await call("POST", "/runs/wait", { assistant_id: "trail", input: {} });
  expect(json).toBeTypeOf("object");
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as { type: string }[];
  expect(targets).toMatchObject([{ type: "node" }]);
  expect(agent.deps.hosts.all).toHaveLength(1);
});
