/** Tests the proxy of docs/production.md: Debian's nginx with the page's own text, before a server configured by it. */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, expect, test, vi } from "vitest";
import WebSocket from "ws";

import { freePort } from "../../server/src/base/free-port.ts";
import { uuid7 } from "../../server/src/base/ids.ts";
import { documentedConfigurations, documentedEnvironment, startNginx } from "./nginx.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
/** A client address other than the proxy's, as far as loopback has others. */
const CLIENT = "127.0.0.2";

const directory = mkdtempSync(join(tmpdir(), "heddle-nginx-"));
// Postgres does not run as root, and its user needs access to its data
chmodSync(directory, 0o755);
const ports = { agent: 0, trace: 0, control: 0 };
const outside = { agent: 0, trace: 0, control: 0, several: 0 };
/** Port on which nothing listens, then a server that answers 503. */
let down = 0;
let server: ChildProcess;
let output = "";
let key = "";
let stopNginx: () => Promise<void>;

beforeAll(async () => {
  for (const role of ["agent", "trace", "control"] as const) {
    ports[role] = await freePort();
    outside[role] = await freePort();
  }
  down = await freePort();
  outside.several = await freePort();
  const environment = documentedEnvironment();
  const args = ["serve", "--role", "agent,trace,control", "--config", "examples/langgraph.json"];
  const where = ["--port", `${ports.agent}`, "--trace-port", `${ports.trace}`, "--control-port", `${ports.control}`];
  server = spawn(process.execPath, ["cli/bin/heddle.js", ...args, ...where, "--data-dir", join(directory, "data")], {
    cwd: repository,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...environment },
  });
  for (const stream of [server.stdout!, server.stderr!])
    stream.on("data", (chunk: Buffer) => (output += String(chunk)));
  stopNginx = await startNginx(directory, documentedConfigurations(), [
    ...(["agent", "trace", "control"] as const).map((role) => ({
      name: role === "control" ? "agents.example" : `${role}.example`,
      port: outside[role],
      upstream: ports[role],
    })),
    { name: "several.example", port: outside.several, upstream: [down, ports.agent] },
  ]);
  const isReady = async () => {
    const { status } = await call("agent", "GET", "/ready").catch(() => ({ status: 0 }));
    expect([status, output]).toEqual([200, expect.stringMatching(/shown only once: \S+/)]);
  };
  await vi.waitFor(isReady, { timeout: 90_000, interval: 300 });
  key = /shown only once: (\S+)/.exec(output)![1]!;
}, 120_000);

afterAll(async () => {
  await stopNginx?.();
  const exited = new Promise((resolve) => server?.once("exit", resolve));
  server?.kill("SIGTERM");
  await exited;
  rmSync(directory, { recursive: true, force: true });
}, 60_000);

type Role = keyof typeof outside;
interface Answer {
  status: number;
  text: string;
  /** Arrival time of each piece of the body, in milliseconds. */
  pieces: { at: number; text: string }[];
}

const proxyHost = (role: Role) => `${role === "control" ? "agents" : role}.example:${outside[role]}`;

/** Sends a request through the proxy, like a browser or SDK elsewhere. */
function call(role: Role, method: string, path: string, body?: string | Buffer, headers = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        ...{ host: "127.0.0.1", port: outside[role], localAddress: CLIENT, servername: proxyHost(role).split(":")[0] },
        ...{ rejectUnauthorized: false, method, path },
        headers: { host: proxyHost(role), "content-type": "application/json", ...headers },
      },
      (response) => {
        const pieces: Answer["pieces"] = [];
        response.on("data", (chunk: Buffer) => pieces.push({ at: performance.now(), text: chunk.toString() }));
        response.on("error", reject);
        response.on("end", () =>
          resolve({ status: response.statusCode!, text: pieces.map((piece) => piece.text).join(""), pieces }),
        );
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

const withKey = () => ({ "x-api-key": key });

test("the tested proxy examples are the only ones in the documentation", () => {
  const folder = join(repository, "docs");
  const pages = [...readdirSync(folder).map((name) => join(folder, name)), join(repository, "README.md")];
  const texts = pages.filter((file) => file.endsWith(".md")).map((file) => readFileSync(file, "utf8"));
  const examples = texts.flatMap((text) =>
    text.match(/^```(nginx|caddy\w*|traefik|haproxy|apache\w*)$|proxy_pass http|reverse_proxy \S+:/gim),
  );
  const example = ["```nginx", "proxy_pass http"];
  // the server, the upstream of several servers, and the way to them
  expect(examples.filter((found) => found !== null)).toEqual([...example, "```nginx", ...example]);
  expect(documentedEnvironment()).toHaveProperty("HEDDLE_TRUSTED_PROXIES", "127.0.0.1");
});

test("requests through the proxy need a key, on every server, and the start logs it", async () => {
  for (const [role, path] of [
    ["agent", "/threads/search"],
    ["trace", "/api/v1/runs/query"],
    ["control", "/v2/deployments"],
  ] as const) {
    const method = role === "control" ? "GET" : "POST";
    const body = method === "POST" ? "{}" : undefined;
    expect([role, (await call(role, method, path, body)).status]).toEqual([role, 401]);
    expect([role, (await call(role, method, path, body, withKey())).status]).not.toEqual([role, 401]);
    expect([role, (await call(role, "GET", "/metrics")).status]).toEqual([role, 404]);
  }
  expect(output).toContain("Requests require a key: HEDDLE_TRUSTED_PROXIES names a proxy");
  // callers that bypass the proxy need a key as well
  const direct = await fetch(`http://127.0.0.1:${ports.agent}/threads/search`, { method: "POST", body: "{}" });
  expect(direct.status).toBe(401);
});

test("events of a stream arrive as they happen", async () => {
  const thread = JSON.parse((await call("agent", "POST", "/threads", "{}", withKey())).text) as { thread_id: string };
  const input = { assistant_id: "slow", input: { steps: 3, seconds: 0.5 }, stream_mode: ["custom"] };
  const path = `/threads/${thread.thread_id}/runs/stream`;
  const { status, text, pieces } = await call("agent", "POST", path, JSON.stringify(input), withKey());
  expect(status).toBe(200);
  expect(text.match(/event: custom/g)).toHaveLength(30);
  const events = pieces.filter((piece) => piece.text.includes("event: custom"));
  expect(events.length).toBeGreaterThan(5);
  expect(events.at(-1)!.at - events[0]!.at).toBeGreaterThan(800);
});

test("with several servers, requests reach one that is up", async () => {
  // each worker of nginx learns anew that a server is unavailable, after `fail_timeout`
  for (let i = 0; i < 6; i++) {
    expect((await call("several", "POST", "/threads", "{}", withKey())).status).toBe(200);
  }
  const starting = createServer((_, response) => void response.writeHead(503).end());
  await new Promise<void>((listening) => starting.listen(down, "127.0.0.1", listening));
  try {
    await sleep(5500);
    for (let i = 0; i < 6; i++) expect((await call("several", "GET", "/info", undefined, withKey())).status).toBe(200);
  } finally {
    starting.close();
  }
}, 30_000);

test("a WebSocket is upgraded only with a key", async () => {
  const thread = JSON.parse((await call("agent", "POST", "/threads", "{}", withKey())).text) as { thread_id: string };
  const url = `wss://127.0.0.1:${outside.agent}/threads/${thread.thread_id}/stream/events`;
  const open = (headers: Record<string, string>) =>
    new Promise<string>((resolve) => {
      const socket = new WebSocket(url, {
        ...{ rejectUnauthorized: false, servername: "agent.example", localAddress: CLIENT },
        headers: { host: proxyHost("agent"), ...headers },
      });
      socket.once("open", () => {
        socket.terminate();
        resolve("open");
      });
      socket.once("error", (error) => resolve(error.message));
    });
  expect(await open(withKey())).toBe("open");
  expect(await open({})).toContain("401");
});

test("a trace of 8 MB is accepted and found", async () => {
  const id = uuid7();
  const order = `20261121T100000123456Z${id}`;
  const times = { start_time: "2026-11-21T10:00:00.123456", end_time: "2026-11-21T10:00:01" };
  const run = { id, trace_id: id, dotted_order: order, name: "large", run_type: "chain", session_name: "proxied" };
  const inputs = { text: "x".repeat(8 * 1024 * 1024) };
  const body = JSON.stringify({ post: [{ ...run, ...times, inputs }], patch: [] });
  const sent = await call("trace", "POST", "/api/v1/runs/batch", body, withKey());
  expect([sent.status, sent.text.slice(0, 200)]).toEqual([202, expect.anything()]);
  const read = await call("trace", "GET", `/api/v1/runs/${id}`, undefined, withKey());
  expect([read.status, read.text.length > 8 * 1024 * 1024]).toEqual([200, true]);
});

test("addresses are the proxy's, and the client's is recorded, whatever the client claims", async () => {
  const forged = { ...withKey(), "x-forwarded-for": "6.6.6.6" };
  const integration = JSON.stringify({ name: "through the proxy" });
  const created = await call("control", "POST", "/v2/integrations/git", integration, forged);
  expect(created.status).toBe(201);
  expect((JSON.parse(created.text) as { webhook_url: string }).webhook_url).toMatch(/^https:\/\/agents\.example\//);
  const query = "/api/v1/audit-logs?start_time=2020-01-01T00:00:00Z&end_time=2100-01-01T00:00:00Z&limit=100";
  const logs = await call("trace", "GET", query, undefined, withKey());
  expect(logs.status).toBe(200);
  expect(logs.text).toContain(`"client_host":"${CLIENT}"`);
  expect(logs.text).not.toContain("6.6.6.6");
  // without a configured address, links use the address of the request: Host passes with its port
  const id = uuid7();
  const order = `20261121T100000123456Z${id}`;
  const run = { id, trace_id: id, dotted_order: order, name: "file", run_type: "chain", session_name: "proxied" };
  const form = new FormData();
  const start_time = "2026-11-21T10:00:00.123456";
  form.append(`post.${id}`, new Blob([JSON.stringify({ ...run, start_time })], { type: "application/json" }));
  form.append(`attachment.${id}.note`, new Blob(["content"], { type: "text/plain" }));
  const multipart = new Request("http://x", { method: "POST", body: form });
  const body = Buffer.from(await multipart.arrayBuffer());
  const headers = { ...withKey(), "content-type": multipart.headers.get("content-type")! };
  expect((await call("trace", "POST", "/api/v1/runs/multipart", body, headers)).status).toBe(202);
  const { text } = await call("trace", "GET", `/api/v1/runs/${id}`, undefined, withKey());
  const { presigned_url } = JSON.parse(text).s3_urls["attachment.note"] as { presigned_url: string };
  expect(new URL(presigned_url).host).toBe(proxyHost("trace"));
  expect((await call("trace", "GET", new URL(presigned_url).pathname)).text).toBe("content");
});

test("each entry of the data directory is in the page's table of what to keep", () => {
  const page = readFileSync(join(repository, "docs/production.md"), "utf8");
  const keeping = page.slice(page.indexOf("## Backup and restore"));
  const entries = readdirSync(join(directory, "data"));
  expect(entries).toContain("blobs");
  expect(entries).toContain("chdb");
  expect(entries.filter((name) => !keeping.includes(`\`${name}\``))).toEqual([]);
});
