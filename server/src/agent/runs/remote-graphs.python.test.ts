/** Graphs that call remote graphs with interrupts, in each pair of languages. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

import { getRequestListener } from "@hono/node-server";
import { beforeAll, expect, test } from "vitest";

import { type TestAgentServer, testAgentServer } from "../../../test/agent-server.ts";
import { atEnd } from "../../../test/at-end.ts";
import { openGuard } from "../../../test/principal.ts";
import { createAgentApp } from "../../agent-app.ts";

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/remote-graphs/langgraph.json", import.meta.url));

let server: TestAgentServer;
beforeAll(async () => {
  let fetch: (request: Request) => Response | Promise<Response> = () => new Response(null, { status: 503 });
  const http = createServer(getRequestListener((request) => fetch(request)));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  atEnd(() => new Promise((resolve) => http.close(resolve)));
  const { port } = http.address() as AddressInfo;
  const env = { HEDDLE_PYTHON: process.env["HEDDLE_PYTHON"]! };
  server = await testAgentServer(env, PROJECT, { internalUrl: `http://127.0.0.1:${port}` });
  const app = createAgentApp(server.agent.deps, openGuard);
  fetch = (request) => app.fetch(request);
});

const post = async (path: string, body: object) => (await server.call("POST", path, body)).json;
const get = async (path: string) => (await server.call("GET", path)).json;
const newThread = async () => (await post("/threads", {})).thread_id as string;

/** Returns the ids of the thread's pending interrupts, and those that its newest run has discarded. */
async function seen(thread: string) {
  const [{ interrupts, values }, [newest]] = [await get(`/threads/${thread}`), await get(`/threads/${thread}/runs`)];
  const pending = (Object.values(interrupts).flat() as { id: string }[]).map(({ id }) => id);
  return { pending, trail: values.trail as string[], discarded: newest.discarded_interrupts as string[] | null };
}

test.each([
  { from: "py", to: "py", continues: true },
  { from: "py", to: "js", continues: true },
  { from: "js", to: "py", continues: false },
  { from: "js", to: "js", continues: false },
])(
  "a resume of a graph in $from whose remote graph in $to asks reports what it discards",
  async (pair) => {
    const [own, thread] = [await newThread(), await newThread()];
    const wait = (body: object) => post(`/threads/${own}/runs/wait`, { assistant_id: `parent-${pair.from}`, ...body });
    await wait({ input: { graph: `asks-${pair.to}`, thread } });
    const before = await seen(thread);
    expect(before).toEqual({ pending: [expect.any(String)], trail: ["input"], discarded: null });
    await wait({ command: { resume: "yes" } });
    const after = await seen(thread);
    expect(await get(`/threads/${thread}/runs`)).toHaveLength(2);
    const continued = { ...before };
    const begunAnew = { pending: [expect.any(String)], trail: ["input", "input"], discarded: before.pending };
    expect(after).toEqual(pair.continues ? continued : begunAnew);
    expect(after.pending.every((id) => before.pending.includes(id))).toBe(pair.continues);
  },
  120_000,
);
