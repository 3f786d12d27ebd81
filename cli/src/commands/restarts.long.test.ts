import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";

import { testDatabase } from "../../../server/test/db.ts";
import { freePort } from "../../../server/src/base/free-port.ts";

const LAUNCHER = fileURLToPath(new URL("../../bin/heddle.js", import.meta.url));
const NODE_MODULES = fileURLToPath(new URL("../../../node_modules", import.meta.url));
const db = await testDatabase();
const dir = mkdtempSync(join(tmpdir(), "heddle-restarts-"));
symlinkSync(NODE_MODULES, join(dir, "node_modules"));
writeFileSync(join(dir, "package.json"), `{"type":"module"}`);
writeFileSync(
  join(dir, "app.ts"),
  `import { Hono } from "hono";
   export const app = new Hono()
     .get("/pid", (c) => c.text(String(process.pid)))
     .post("/exit", () => process.exit(0));`,
);
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
});

function serve(http: object, port: string) {
  writeFileSync(join(dir, "langgraph.json"), JSON.stringify({ graphs: {}, http }));
  const args = ["serve", "--role", "agent", "--config", join(dir, "langgraph.json"), "--port", port, "--no-reload"];
  const child = spawn(process.execPath, [LAUNCHER, ...args, "--data-dir", join(dir, "data")], {
    env: { PATH: process.env["PATH"], DATABASE_URI: db.uri, HEDDLE_HOSTS: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const exited = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  return { child, exited, output: () => output };
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    // a zombie that has not been reaped yet is dead
    return !execFileSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).startsWith("Z");
  } catch {
    return false;
  }
};

test(
  "restarts a server that its project's code crashed, and stops it with its launcher",
  { timeout: 90_000 },
  async () => {
    const port = String(await freePort());
    const { child, output } = serve({ app: "./app.ts:app" }, port);
    const url = `http://127.0.0.1:${port}`;
    const pid = () =>
      fetch(`${url}/pid`, { signal: AbortSignal.timeout(2000) }).then(
        async (response) => (response.ok ? Number(await response.text()) : 0),
        () => 0,
      );
    const another = async (before: number) => {
      const now = await pid();
      return now !== 0 && now !== before;
    };
    await expect.poll(() => another(0), { timeout: 30_000 }).toBe(true);
    const first = await pid();
    expect(first).not.toBe(child.pid);
    const created = await fetch(`${url}/threads`, { method: "POST" });
    const { thread_id } = (await created.json()) as { thread_id: string };

    // even where it looks like an orderly exit
    await fetch(`${url}/exit`, { method: "POST" }).catch(() => {});
    await expect.poll(() => another(first), { timeout: 30_000 }).toBe(true);
    expect(output()).toContain("The server exited (exit code 0); restarting it.");
    expect((await fetch(`${url}/threads/${thread_id}`)).status).toBe(200);

    const second = await pid();
    child.kill("SIGKILL");
    await expect.poll(() => isAlive(second), { timeout: 20_000 }).toBe(false);
  },
);

test("reports a failed start once, without a restart", { timeout: 60_000 }, async () => {
  const { exited, output } = serve({ app: "./nowhere.ts:app" }, String(await freePort()));
  expect(await exited).toBe(1);
  expect(output()).toMatch(/http\.app: there is no file .*nowhere\.ts/);
  expect(output()).not.toContain("restarting it");
});
