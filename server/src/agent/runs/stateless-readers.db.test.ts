/** Readers of runs without a thread of their own have the options of those of a thread's runs. */
import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { openGuard } from "../../../test/principal.ts";
import { createAgentApp } from "../../agent-app.ts";

const { agent, call, sql } = await testAgentServer();
const app = createAgentApp(agent.deps, openGuard);

const status = async (id: string) =>
  (await sql<{ status: string }[]>`select status from runs where run_id = ${id}`)[0]?.status;

test.each(["join", "stream"])("closing a %s with cancel_on_disconnect cancels the run", async (kind) => {
  const body = { assistant_id: "slow", input: { topic: "t" }, on_completion: "keep" };
  const id = (await call("POST", "/runs", body)).json.run_id as string;
  await expect.poll(() => status(id)).toBe("running");
  const stays = await app.request(`/runs/${id}/${kind}`);
  await stays.body!.cancel();
  expect(await status(id)).toBe("running");
  const leaves = await app.request(`/runs/${id}/${kind}?cancel_on_disconnect=1`);
  await leaves.body!.cancel();
  await expect.poll(() => status(id)).toBe("interrupted");
});
