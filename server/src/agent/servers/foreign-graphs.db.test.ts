import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { testDatabase } from "../../../test/db.ts";
import { systemAssistantId } from "../project/assistant-id.ts";

const OTHER = fileURLToPath(new URL("../../../test/fixtures/agent-project/other.json", import.meta.url));

const db = await testDatabase();
const ownServer = await testAgentServer({}, undefined, { db });
const other = await testAgentServer({}, OTHER, { db });

test("a run goes to a server that has its graph, and fails with the reason when none has", async () => {
  // as in a rolling deploy: each server has graphs that the other lacks or cannot load
  const graphs = async () =>
    (await db.sql<{ graphs: string[] }[]>`select graphs from servers order by started_at`).map((row) =>
      row.graphs.toSorted(),
    );
  await expect.poll(graphs, { timeout: 30_000 }).toEqual([
    ["ask", "branches", "nested", "pair", "slow", "trail", "where"],
    ["broken", "elsewhere"],
  ]);
  const run = (server: typeof ownServer, graph: string, path = "/runs/wait") =>
    server.call("POST", path, { assistant_id: systemAssistantId(graph), input: { topic: graph } });
  const waits = [
    run(ownServer, "elsewhere"),
    run(ownServer, "elsewhere"),
    run(ownServer, "broken"),
    run(other, "trail"),
    run(ownServer, "trail"),
    run(other, "broken"),
  ];
  for (const { status, text } of await Promise.all(waits)) {
    expect(status).toBe(200);
    expect(text).not.toContain("__error__");
    expect(text).toContain("first:");
  }

  await other.stop();
  await expect.poll(graphs).toHaveLength(1);
  const { json } = await run(ownServer, "elsewhere");
  expect(json.__error__).toMatchObject({ error: "GraphLoadError", message: expect.stringContaining("elsewhere") });
});
