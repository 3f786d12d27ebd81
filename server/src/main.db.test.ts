import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test, vi } from "vitest";

import { atEnd } from "../test/at-end.ts";
import { testDatabase } from "../test/db.ts";
import { testWorkspace } from "../test/identity.ts";
import { startAgentServer } from "./main.ts";

const PROJECT = fileURLToPath(new URL("../test/fixtures/agent-project/langgraph.json", import.meta.url));

test("servers forward streams with the caller's key, and reject callers of other workspaces", async () => {
  const db = await testDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), "heddle-main-"));
  atEnd(() => rmSync(dataDir, { recursive: true, force: true }));
  for (const [name, value] of [
    ["HEDDLE_AUTH", "required"],
    ["HEDDLE_HOSTS", "1"],
    ["HEDDLE_SHUTDOWN_GRACE_SECS", "0"],
    ["HEDDLE_LOG_LEVEL", "error"],
  ] as const) {
    vi.stubEnv(name, value);
  }
  const start = async () => {
    const database = { uri: db.uri, socket: db.options.host ?? null };
    const server = await startAgentServer({
      config: PROJECT,
      host: "127.0.0.1",
      port: 0,
      dataDir,
      database,
      reload: false,
    });
    atEnd(() => server.close());
    await server.graphs;
    return server;
  };
  const [first, two] = [await start(), await start()];
  vi.unstubAllEnvs();
  expect(two.firstKey).toBeNull();
  const call = (url: string, path: string, key: string | null, body?: unknown) =>
    fetch(url + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { "content-type": "application/json", ...(key && { "x-api-key": key }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });

  const thread = randomUUID();
  expect((await call(first.url, "/threads", first.firstKey, { thread_id: thread })).status).toBe(200);
  const created = await call(first.url, `/threads/${thread}/runs`, first.firstKey, {
    assistant_id: "slow",
    input: {},
    stream_mode: ["values"],
    stream_resumable: true,
  });
  const { run_id: run } = (await created.json()) as { run_id: string };
  // the run executes on the first server, so the second one reads its frames there
  const stream = await call(two.url, `/threads/${thread}/runs/${run}/stream`, first.firstKey);
  expect(stream.status).toBe(200);
  const frames = stream.body!.getReader();
  let text = "";
  while (!text.includes("event: ")) text += new TextDecoder().decode((await frames.read()).value);
  await frames.cancel();

  const other = await testWorkspace(db, "other");
  expect((await call(two.url, `/threads/${thread}`, null)).status).toBe(401);
  expect((await call(two.url, `/threads/${thread}`, other.admin)).status).toBe(403);
  expect((await call(two.url, `/threads/${thread}/runs/${run}/stream`, other.org)).status).toBe(403);
});
