/**
 * A server that is used in every way, with every kind of key: none of them is stored, traced, logged or sent on. The
 * project asks for all headers, and its own code calls the server.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import postgres from "postgres";
import { beforeAll, expect, test } from "vitest";
import WebSocket from "ws";

import { atEnd } from "../../server/test/at-end.ts";
import { findInDatabase } from "../../server/test/find-in-database.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PROJECT = fileURLToPath(new URL("secret-project/", import.meta.url));
const USER = "anna@a.example";
const HELLO = { messages: [{ role: "human", content: "hello" }] };
const ASK = { messages: [{ role: "human", content: "ask" }] };

// oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect to be there
type Json = any;

/** @param hasOwnKey whether the project's code calls the server with its own key */
export function describeStoredSecrets(config: string, hasOwnKey: boolean): void {
  const directory = mkdtempSync(join(tmpdir(), "heddle-stored-secrets-"));
  chmodSync(directory, 0o755);
  const data = join(directory, "data");
  const secrets: Record<string, string> = {
    "a forged own key": "f0rged-own-key-Zq8-0lMCJvmI0lMCJvmI0lMCJvmI",
    "a service key": "service-Zq8-1",
    "a proxy's password": Buffer.from("proxy:Zq8-2").toString("base64"),
    "a password": "correct horse battery 77",
  };
  const received: string[] = [];
  const collector = createServer((request, response) => {
    let body = JSON.stringify(request.headers);
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      received.push(`${request.url} ${body}`);
      response.end("{}");
    });
  });
  let child: ChildProcess;
  let [output, agent, trace, hook] = ["", "", "", ""];

  beforeAll(async () => {
    await new Promise<void>((resolve) => void collector.listen(0, "127.0.0.1", resolve));
    const project = JSON.parse(readFileSync(join(PROJECT, config), "utf8")) as Json;
    const { port } = collector.address() as AddressInfo;
    for (const name of ["graphs", "http"] as const)
      for (const [key, path] of Object.entries(project[name] as object))
        if (typeof path === "string") project[name][key] = path.replace("./", PROJECT);
    writeFileSync(
      join(directory, "langgraph.json"),
      JSON.stringify({ ...project, webhooks: { url: { allowed_ports: [port] } } }),
    );
    const args = ["cli/bin/heddle.js", "dev", "--config", join(directory, "langgraph.json"), "--no-reload"];
    const address = `http://127.0.0.1:${port}`;
    args.push("--port", "0", "--trace-port", "0", "--data-dir", data);
    child = spawn(process.execPath, args, {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        HEDDLE_AUTH: "required",
        HEDDLE_LOG_LEVEL: "trace",
        HEDDLE_HOSTS: "1",
        HEDDLE_OUTBOUND_ALLOW: address.slice("http://".length),
        OTEL_EXPORTER_OTLP_ENDPOINT: address,
      },
    });
    for (const stream of [child.stdout!, child.stderr!]) stream.on("data", (chunk: Buffer) => (output += chunk));
    const find = (pattern: RegExp) => pattern.exec(output)?.[1];
    const traces = () => find(/Traces\s+(http\S+)/) ?? find(/trace platform is up at (http\S+)\./);
    for (const deadline = Date.now() + 120_000; !output.includes("Stop with Ctrl-C") || !traces(); await sleep(100)) {
      if (child.exitCode !== null || Date.now() > deadline) throw new Error(`the servers did not start: ${output}`);
    }
    [agent, trace] = [find(/API\s+(http\S+)/)!, traces()!];
    secrets["the first key"] = find(/Key\s+(lsv2_\S+)/)!;
    hook = `${address}/hook`;
    const create = ["users", "create", "--email", USER, "--password-stdin", "--data-dir", data];
    execFileSync(process.execPath, ["cli/bin/heddle.js", ...create], { cwd: ROOT, input: secrets["a password"]! });
  }, 240_000);

  atEnd(async () => {
    if (child.exitCode === null) {
      child.kill("SIGTERM");
      await new Promise((resolve) => child.once("exit", resolve));
    }
    collector.close();
    rmSync(directory, { recursive: true, force: true });
  });

  async function ask(path: string, body: object | undefined, headers: Record<string, string>): Promise<Json> {
    const response = await fetch(path.startsWith("http") ? path : agent + path, {
      method: body ? "POST" : "GET",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status >= 500) throw new Error(`${path}: ${response.status} ${text} ${output.slice(-3_000)}`);
    expect([path, response.status, text]).toEqual([path, expect.toBeOneOf([200, 204]), expect.anything()]);
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }

  /** Uses the server in every way. @param headers of every request, with a credential */
  async function drive(headers: Record<string, string>, name: string): Promise<void> {
    const assistant = { assistant_id: "agent" };
    const webhook = `${hook}/${name}`;
    const modes = { stream_mode: ["values", "messages", "debug", "checkpoints", "tasks", "events"] };
    const post = (path: string, body: object, more = {}) => ask(path, body, { ...headers, ...more });
    await post("/runs/wait", { ...assistant, input: HELLO, webhook });
    await post("/runs/stream", { ...assistant, ...modes, input: HELLO, stream_resumable: true });
    await post("/runs/batch", [{ ...assistant, input: HELLO, webhook }] as object);
    await post("/runs", { ...assistant, input: HELLO, on_completion: "keep" }, { "idempotency-key": name });
    const { thread_id } = await post("/threads", {});
    const thread = `/threads/${thread_id}`;
    await post(`${thread}/runs/stream`, { ...assistant, ...modes, input: ASK, stream_resumable: true });
    await post(`${thread}/runs/wait`, { ...assistant, command: { resume: "yes" }, webhook, feedback_keys: ["thumbs"] });
    await post(`${thread}/state`, { values: HELLO });
    await post(`${thread}/copy`, {});
    await post("/assistants", { graph_id: "agent" });
    await post("/runs/crons", { ...assistant, schedule: "* * * * *", input: HELLO, webhook });
    await post(`${thread}/runs/crons`, { ...assistant, schedule: "* * * * *", input: HELLO });
    const rpc = (method: string, params: object) => ({ jsonrpc: "2.0", id: "1", method, params });
    await post("/mcp", rpc("tools/call", { name: "agent", arguments: HELLO }));
    const part = { kind: "text", text: "hello" };
    const [{ assistant_id }] = await post("/assistants/search", { graph_id: "agent" });
    await post(
      `/a2a/${assistant_id}`,
      rpc("message/send", { message: { role: "user", messageId: name, parts: [part] } }),
    );
    const start = { method: "run.start", params: { assistant_id: "agent", input: HELLO } };
    await post(`/threads/${crypto.randomUUID()}/commands`, { id: 1, ...start });
    const url = `${agent.replace("http", "ws")}/threads/${crypto.randomUUID()}/stream/events`;
    const socket = new WebSocket(url, { headers });
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    const started = new Promise((resolve) => socket.once("message", resolve));
    socket.send(JSON.stringify({ id: 1, ...start }));
    expect(String(await started)).toContain("success");
    socket.close();
    const { own } = await post("/custom/drive", {});
    for (const [n, key] of ((own ?? []) as string[]).entries()) {
      if (!key.includes("rged")) secrets[`the project's own key ${n}`] = key;
    }
    await ask("/store/items", undefined, headers).catch(() => {});
  }

  test("no key is stored, traced, logged or sent on", { timeout: 600_000 }, async () => {
    const first = secrets["the first key"]!;
    const api = `${trace}/api/v1`;
    secrets["a second key"] = (await ask(`${api}/api-key`, { description: "x" }, { "x-api-key": first })).key as string;
    const password = secrets["a password"]!;
    const cookies = { email: USER, password, cookie: true };
    const signedIn = await fetch(`${trace}/login`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-heddle-csrf": "1" },
      body: JSON.stringify(cookies),
    });
    secrets["a session's CSRF token"] = ((await signedIn.json()) as { csrf_token: string }).csrf_token;
    const cookie = signedIn.headers.getSetCookie()[0]!.split(";", 1)[0]!;
    secrets["a session's cookie"] = cookie.split("=")[1]!;
    const bearer = (await ask(`${trace}/login`, { email: USER, password }, {})).access_token as string;
    secrets["a session"] = bearer;

    // what no header may carry into a run, under names of every kind
    const second = secrets["a second key"];
    const decoys = {
      "x-heddle-own-code": secrets["a forged own key"]!,
      "x-service-key": secrets["a service key"]!,
      "proxy-authorization": `Basic ${secrets["a proxy's password"]}`,
      "x-auth-token": second,
      "x-forwarded-access-token": `Bearer ${second}`,
      "x-session": `id=${bearer}`,
      "user-agent": `test (${first})`,
      "x-team": "blue",
    };
    await drive({ ...decoys, "x-api-key": first }, "key");
    await drive({ ...decoys, authorization: `Bearer ${second}` }, "bearer");
    await drive({ ...decoys, cookie, "x-heddle-csrf": secrets["a session's CSRF token"]! }, "cookie");
    await ask(`/runs/wait?x-api-key=${first}`, { assistant_id: "agent", input: HELLO }, { "x-api-key": first });
    expect(Object.keys(secrets).some((name) => name.includes("own key 0"))).toBe(hasOwnKey);

    const [, , , port] = readFileSync(join(data, "postgres/data/postmaster.pid"), "utf8").split("\n");
    const databasePassword = readFileSync(join(data, "postgres/password"), "utf8").trim();
    const sql = postgres(`postgres://heddle:${databasePassword}@127.0.0.1:${port}/heddle`, { max: 2 });
    try {
      await sql`update crons set next_run_date = now() where next_run_date is not null`;
      const open = async () => (await sql`select 1 from runs where status in ('pending', 'running')`).length;
      const ofCrons = async () => (await sql`select 1 from runs where metadata ? 'cron_id'`).length;
      await expect.poll(ofCrons, { timeout: 120_000 }).toBeGreaterThan(0);
      await expect.poll(open, { timeout: 120_000 }).toBe(0);
      const delivered = () => received.filter((text) => text.startsWith("/hook")).length;
      await expect.poll(delivered, { timeout: 60_000 }).toBeGreaterThan(8);
      await expect.poll(() => received.filter((text) => text.includes("resourceSpans")).length).toBeGreaterThan(0);

      // the header that is not secret arrived everywhere, so the search looks in the right places
      const places = await findInDatabase(sql as never, ["x-team"]);
      expect(places).toEqual(
        expect.arrayContaining(["runs.kwargs", "threads.config", "crons.payload", "checkpoints.metadata"]),
      );
      expect(places).toEqual(expect.arrayContaining(["run_stream_segments.frames", "webhook_deliveries.run_kwargs"]));
      for (const [name, secret] of Object.entries(secrets)) {
        expect([name, await findInDatabase(sql as never, [secret])]).toEqual([name, []]);
      }
      expect(await findInDatabase(sql as never, ["x-heddle-own-code"])).toEqual([]);

      const key = { "x-api-key": first };
      const allTraces = async () => {
        const session = (await ask(`${api}/sessions`, undefined, key)).map(({ id }: { id: string }) => id) as string[];
        const select = ["name", "inputs", "outputs", "extra", "events", "tags", "error", "serialized"];
        const runs: object[] = [];
        for (let cursor: string | undefined; ;) {
          const page = await ask(`${api}/runs/query`, { session, select, limit: 100, cursor }, key);
          runs.push(...page.runs);
          cursor = page.cursors?.next ?? undefined;
          if (cursor === undefined) return runs;
        }
      };
      // of each run, its own and those of its steps
      await expect
        .poll(async () => (await allTraces()).length, { timeout: 60_000, interval: 2_000 })
        .toBeGreaterThan(40);
      const traces = JSON.stringify(await allTraces());
      const metrics = await Promise.all([agent, trace].map(async (url) => (await fetch(`${url}/metrics`)).text()));
      const log = output.slice(output.indexOf("Stop with Ctrl-C"));
      expect(log).toContain('"x-team":"blue"');
      expect(traces).toContain('"x-team":"blue"');
      const shown = { traces, received: received.join("\n"), metrics: metrics.join("\n"), log };
      for (const [place, text] of Object.entries(shown)) {
        for (const [name, secret] of Object.entries(secrets)) {
          const at = text.indexOf(secret);
          const found = at < 0 ? "" : text.slice(Math.max(0, at - 200), at + 50);
          expect([place, name, found]).toEqual([place, name, ""]);
        }
      }
    } finally {
      await sql.end();
    }
    const patterns = Object.values(secrets).flatMap((secret) => ["-e", secret]);
    const grep = () => execFileSync("grep", ["-rlaF", "--exclude-dir=pg_wal", ...patterns, data], { encoding: "utf8" });
    // grep exits with 1 when it finds nothing
    expect(grep).toThrow(expect.objectContaining({ status: 1 }));
  });
}
