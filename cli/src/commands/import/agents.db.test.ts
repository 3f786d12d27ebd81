import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { serve } from "@hono/node-server";
import { afterAll, expect, test } from "vitest";

import { createAgentApp } from "../../../../server/src/agent-app.ts";
import { testAgentServer } from "../../../../server/test/agent-server.ts";
import { atEnd } from "../../../../server/test/at-end.ts";
import { openGuard } from "../../../../server/test/principal.ts";
import { runInside } from "../../../test/run-inside.ts";

const PROJECT = fileURLToPath(new URL("../../../../examples/langgraph.json", import.meta.url));
/** Each has its own assistant from the start. */
const graphs = Object.keys(JSON.parse(readFileSync(PROJECT, "utf8")).graphs).length;

async function start() {
  const { call, agent } = await testAgentServer({}, PROJECT);
  const server = serve({ fetch: createAgentApp(agent.deps, openGuard).fetch, port: 0, hostname: "127.0.0.1" });
  await new Promise((resolve) => server.once("listening", resolve));
  atEnd(() => new Promise((resolve) => server.close(resolve)));
  return { call, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const [source, target, restored] = await Promise.all([start(), start(), start()]);
const directory = mkdtempSync(join(tmpdir(), "heddle-export-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const copyAgents = (...args: string[]) =>
  runInside(
    "import",
    "agents",
    "--from",
    source.url,
    "--url",
    target.url,
    "--state",
    join(directory, "s.json"),
    ...args,
  );

type Server = typeof source;

async function history({ call }: Server, id: string) {
  const { json } = await call("POST", `/threads/${id}/history`, { limit: 1000 });
  return (json as { values: unknown; next: string[] }[]).map(({ values, next }) => ({ values, next }));
}

const newThread = async (graph: string) => (await source.call("POST", "/threads", { graph_id: graph })).json.thread_id;
const run = (id: string, body: object) => source.call("POST", `/threads/${id}/runs/wait`, body);

const chat = await newThread("agent");
await run(chat, {
  assistant_id: "agent",
  input: { messages: [{ role: "user", content: "Hello \u0001 \ud83d\ude00" }] },
});
await run(chat, { assistant_id: "agent", input: { messages: [{ role: "user", content: "What is 3 + 4?" }] } });
const approved = await newThread("approval");
await run(approved, { assistant_id: "approval", input: { topic: "lunch" } });
await run(approved, { assistant_id: "approval", command: { resume: "approve" } });

test("copies threads with their checkpoints, assistants with versions, crons and items, and repeats nothing", async () => {
  const assistant = (
    await source.call("POST", "/assistants", { graph_id: "agent", name: "first", config: { tags: ["a"] } })
  ).json;
  const path = `/assistants/${assistant.assistant_id}`;
  await source.call("PATCH", path, { name: "second", context: { user: "ann" } });
  await source.call("POST", `${path}/latest`, { version: 1 });
  await source.call("POST", "/runs/crons", {
    assistant_id: assistant.assistant_id,
    schedule: "0 3 * * *",
    input: { a: 1 },
  });
  await source.call("PUT", "/store/items", { namespace: ["users", "ann"], key: "k", value: { likes: "tea" } });
  await source.call("PUT", "/store/items", { namespace: ["users"], key: "k", value: { n: 1 } });

  const dry = await copyAgents("--dry-run");
  expect(dry.output).toContain(`1 assistants (${graphs} unchanged), 2 threads, 1 crons, 2 items would be copied.`);
  expect((await target.call("GET", `/threads/${chat}`)).status).toBe(404);

  const { output, code } = await copyAgents();
  expect(output).toContain(`1 assistants (${graphs} unchanged), 2 threads, 1 crons, 2 items copied.`);
  expect(output.match(/Not taken: .*/g)).toEqual([expect.stringContaining("was created disabled")]);
  expect(code).toBe(1);
  for (const id of [chat, approved]) expect(await history(target, id)).toEqual(await history(source, id));
  const copied = (await target.call("GET", path)).json;
  expect(copied).toMatchObject({ name: "first", version: 1, config: { tags: ["a"] } });
  const versions = (await target.call("POST", `${path}/versions`, {})).json;
  expect(versions.map(({ name }: { name: string }) => name)).toEqual(["second", "first"]);
  const [cron] = (await target.call("POST", "/runs/crons/search", {})).json;
  expect(cron).toMatchObject({ schedule: "0 3 * * *", enabled: false, payload: { input: { a: 1 } } });
  expect((await target.call("GET", "/store/items?namespace=users.ann&key=k")).json.value).toEqual({ likes: "tea" });

  const again = await copyAgents();
  expect(again).toMatchObject({ code: 0 });
  expect(again.output).toContain(
    `0 assistants (${graphs + 1} unchanged), 0 threads (2 unchanged), 0 crons (1 unchanged)`,
  );
});

test("adds the checkpoints of a thread that has grown, and says that an interrupt is not taken", async () => {
  const waiting = await newThread("approval");
  await run(waiting, { assistant_id: "approval", input: { topic: "tea" } });
  await run(chat, { assistant_id: "agent", input: { messages: [{ role: "user", content: "And 5 + 6?" }] } });
  const { output, code } = await copyAgents();
  expect(output).toContain("2 threads (1 unchanged)");
  expect(output).toContain(
    `Not taken: thread ${waiting}: its interrupt is not taken: a run without input executes review`,
  );
  expect(code).toBe(1);
  for (const id of [chat, waiting]) expect(await history(target, id)).toEqual(await history(source, id));
  const resumed = await target.call("POST", `/threads/${waiting}/runs/wait`, { assistant_id: "approval", input: null });
  expect(resumed.json.__interrupt__[0].value.question).toBe("Shall this be sent?");
});

test("an export is read back, and one that was changed is not", async () => {
  const files = join(directory, "agents");
  expect((await runInside("export", "agents", "--url", source.url, "--to", files)).output).toContain("3 threads");
  const manifest = JSON.parse(readFileSync(join(files, "manifest.json"), "utf8"));
  expect(manifest.kinds.threads).toMatchObject({ records: 3, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  await expect(runInside("export", "agents", "--url", source.url, "--to", files)).rejects.toThrow("a complete export");
  await runInside("import", "agents", "--from", files, "--url", restored.url, "--state", join(directory, "r.json"));
  expect(await history(restored, chat)).toEqual(await history(source, chat));
  expect((await restored.call("POST", "/store/items/search", { namespace_prefix: ["users"] })).json.items).toHaveLength(
    2,
  );
});
