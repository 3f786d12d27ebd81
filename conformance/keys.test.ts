import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, test, vi } from "vitest";

import { connectTo } from "./clients.ts";
import { startLockedServer } from "./server.ts";

const repository = fileURLToPath(new URL("..", import.meta.url));
const server = await startLockedServer();
afterAll(() => server.stop());
const printedKey = async () => /lsv2_sk_\w+/.exec(await server.printed())?.[0];
const firstKey = await vi.waitUntil(printedKey, { timeout: 20_000 });

/** Runs `heddle keys …` beside the running server. */
async function keys(...args: string[]): Promise<string> {
  const command = ["cli/bin/heddle.js", "keys", ...args, "--data-dir", server.directory];
  return (await promisify(execFile)(process.execPath, command, { cwd: repository })).stdout;
}
const makeKey = async (...args: string[]) => /lsv2_\w+/.exec(await keys("create", ...args))![0];

describe.each(["1.15.0", "2.0.0"])("a server that requires keys, over SDK %s", (sdk) => {
  const status = async (key: string | null, work: (client: ReturnType<typeof connectTo>) => Promise<unknown>) => {
    try {
      await work(connectTo(sdk, server.url, key));
      return 200;
    } catch (error) {
      return (error as { status?: number }).status ?? String(error);
    }
  };
  const create = (client: ReturnType<typeof connectTo>) => client.threads.create();

  test("the key printed at the first start has full access", async () => {
    const client = connectTo(sdk, server.url, firstKey);
    const { thread_id } = await client.threads.create();
    const values = await client.runs.wait(thread_id, "counter", { input: {} });
    expect(values).not.toHaveProperty("__error__");
    const events: string[] = [];
    for await (const { event } of client.runs.stream(thread_id, "counter", { input: {}, streamMode: "updates" })) {
      events.push(event);
    }
    expect(events).toContain("updates");
  });

  test("rejects requests without a key or with an unknown key", async () => {
    expect(await status(null, create)).toBe(401);
    expect(await status(`${firstKey.slice(0, -1)}${firstKey.endsWith("0") ? "1" : "0"}`, create)).toBe(401);
    expect(await status("lsv2_sk_nonsense", create)).toBe(401);
    expect((await fetch(`${server.url}/ok`)).status).toBe(200);
    expect((await fetch(`${server.url}/threads/search`, { method: "POST", body: "{}" })).status).toBe(401);
  });

  test("a read-only key reads and cannot write", async () => {
    const reader = await makeKey("--read-only");
    expect(await status(reader, (client) => client.threads.search())).toBe(200);
    expect(await status(reader, (client) => client.assistants.search())).toBe(200);
    expect(await status(reader, create)).toBe(403);
    expect(await status(reader, (client) => client.runs.create(null, "counter", { input: {} }))).toBe(403);
    expect(await status(reader, (client) => client.store.putItem(["a"], "k", { v: 1 }))).toBe(403);
  });

  test("a key revoked on the command line is rejected within a second", async () => {
    const key = await makeKey();
    expect(await status(key, create)).toBe(200);
    await keys("revoke", "--id", key);
    await expect.poll(() => status(key, create), { timeout: 10_000, interval: 50 }).toBe(401);
  });
});
