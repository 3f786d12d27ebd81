/**
 * Floods by callers without a key, from loopback, against `heddle dev` and `heddle up` with keys required: no way of
 * sending, or of leaving responses unread, makes a server process grow by 100 MiB, and all together leave less than that.
 */
import type { ChildProcess } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, expect, test } from "vitest";

import { ask, Flood, growthDuring, findListener, residentMib, type Warm } from "./flood.ts";
import { startPrinted } from "./printed-platform.ts";

const PROJECT = fileURLToPath(new URL("../../server/test/fixtures/agent-project/langgraph.json", import.meta.url));
const SLOW = 240_000;
const MOST_MIB = 100;
const UUID = "00000000-0000-7000-8000-0000000000ff";

const dataDir = mkdtempSync(join(tmpdir(), "heddle-floods-"));
// Postgres does not run as root, and its user must reach its data
chmodSync(dataDir, 0o755);
const children: ChildProcess[] = [];
const ports: Record<string, number> = {};
/** Each server's process, and its memory before the first attack. */
const warm: Record<string, Warm> = {};
const LOGIN = {
  method: "POST",
  body: '{"email":"a@b.example","password":"x"}',
  headers: { "content-type": "application/json", "x-api-key": "lsv2_sk_wrong" },
};

async function start(command: "dev" | "up", args: string[]): Promise<(name: string) => number> {
  const env = { HOME: dataDir, HEDDLE_HOSTS: "1", HEDDLE_AUTH: "required" };
  const { child, url } = await startPrinted([command, "--data-dir", join(dataDir, command), ...args], env);
  children.push(child);
  return (name) => Number(new URL(url(name)).port);
}

beforeAll(async () => {
  const free = ["--trace-port", "0", "--console-port", "0"];
  const dev = await start("dev", ["--config", PROJECT, "--port", "0", "--no-reload", ...free]);
  const up = await start("up", ["--control-port", "0", ...free]);
  Object.assign(ports, { agent: dev("API"), trace: dev("Traces"), control: up("Control"), console: up("Console") });
  await Promise.all(Object.values(ports).map(warmUp));
  for (const [space, port] of Object.entries(ports)) {
    const pid = findListener(port);
    warm[space] = { pid, mib: residentMib(pid) };
  }
}, SLOW);

afterAll(async () => {
  await Promise.all(
    children.map(
      (child) =>
        new Promise<void>((resolve) => {
          if (child.exitCode !== null) return resolve();
          child.once("exit", () => resolve());
          child.kill("SIGTERM");
        }),
    ),
  );
  rmSync(dataDir, { recursive: true, force: true });
}, SLOW);

/** Sends ordinary requests, so that compilation, caches and ordinary garbage are not counted as an attack's. */
async function warmUp(port: number): Promise<void> {
  for (let round = 0; round < 250; round++) {
    await Promise.all(
      ["/ok", "/info", "/docs", "/openapi.json", "/login", "/none"].map(async (path) => {
        const init = path === "/login" ? LOGIN : { headers: LOGIN.headers };
        await (await fetch(`http://127.0.0.1:${port}${path}`, init)).arrayBuffer();
      }),
    );
  }
}

const JSON_HEAD = "Host: localhost\r\nContent-Type: application/json\r\n";
const request = (line: string, ...headers: string[]) =>
  `${line} HTTP/1.1\r\n${JSON_HEAD}${headers.map((header) => `${header}\r\n`).join("")}\r\n`;
const sized = (line: string, mib: number) => request(line, `Content-Length: ${mib * 1024 * 1024}`);
const chunked = (line: string) => request(line, "Transfer-Encoding: chunked");

/** Routes that read a body without a key, or look as if they might. */
const POSTS: Record<string, string[]> = {
  agent: ["POST /runs/wait", "POST /mcp/", `POST /a2a/${UUID}`, "POST /threads", "POST /none"],
  trace: [
    "POST /login",
    "POST /api/v1/login",
    "POST /logout",
    `POST /feedback/tokens/${UUID}`,
    `POST /public/${UUID}/runs/query`,
    "POST /runs/multipart",
    "POST /otel/v1/traces",
  ],
  control: [
    `POST /webhooks/github/${UUID}`,
    `POST /webhooks/gitlab/${UUID}`,
    `PUT /uploads/tarballs/${UUID}/${UUID}/x.tar.gz?exp=9999999999&sig=x`,
    "POST /v2/deployments",
    "POST /d/none/runs/wait",
    "POST /v2/none/blobs/uploads/",
  ],
  console: ["POST /api/trace/login", "POST /api/control/login", "POST /"],
};

type Attack = (flood: Flood, posts: string[]) => Promise<void>;

const ATTACKS: Record<string, Attack> = {
  "large bodies": async (flood, posts) => {
    const heads = posts.flatMap((line) => [sized(line, 32), chunked(line)]);
    await Promise.all(heads.map((head) => flood.bodies(head, 2, 16)));
    await flood.heard();
  },
  "half-sent bodies": async (flood, posts) => {
    for (let n = 0; n < 700; n++) {
      flood.open(request(posts[n % posts.length]!, "Content-Length: 65536") + "x".repeat(60_000));
      if (n % 100 === 0) await sleep(10);
    }
    await flood.heard();
  },
  "half-sent headers": async (flood) => {
    for (let n = 0; n < 1200; n++) {
      flood.open(`GET /ok HTTP/1.1\r\nHost: localhost\r\nX-A: ${"x".repeat(15_000)}`);
      if (n % 100 === 0) await sleep(10);
    }
    await sleep(700);
  },
  "answers that are not read": async (flood) => {
    for (let n = 0; n < 600; n++) {
      for (const path of ["/openapi.json", "/docs"]) flood.open(request(`GET ${path}`), false);
      if (n % 50 === 0) await sleep(20);
    }
    await sleep(700);
  },
  "pipelined requests whose answers are not read": async (flood) => {
    for (const path of ["/openapi.json", "/docs", "/metrics", "/info"]) {
      const requestText = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
      for (let n = 0; n < 5; n++) flood.open(requestText.repeat(Math.floor(60_000 / requestText.length)), false);
    }
    await sleep(2000);
  },
  "attempts to sign in": async (flood) => {
    for (let n = 0; n < 200; n++) {
      const body = JSON.stringify({ email: `a${n}@b.example`, password: "x".repeat(1000) });
      flood.open(request("POST /login", `Content-Length: ${body.length}`) + body);
      if (n % 50 === 0) await sleep(20);
    }
    await flood.heard();
  },
  "wrong keys": async (flood) => {
    for (let n = 0; n < 40; n++) {
      const key = () => `lsv2_sk_${Math.random().toString(36).slice(2).padEnd(32, "0")}`;
      const lines = Array.from({ length: 15 }, () =>
        request("GET /api/v1/workspaces", `X-Api-Key: ${key()}`, `X-Pad: ${"x".repeat(4000)}`),
      );
      flood.open(lines.join(""));
      await sleep(20);
    }
    await flood.heard();
  },
  upgrades: async (flood) => {
    const upgrade = [
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    ];
    for (let n = 0; n < 700; n++) {
      const path = [`/threads/${UUID}/stream/events`, "/d/none/ws", "/api/agent/ws"][n % 3]!;
      flood.open(request(`GET ${path}`, ...upgrade) + "x".repeat(60_000));
      if (n % 100 === 0) await sleep(10);
    }
    await flood.heard();
  },
};

/** Attacks whose responses are read. */
const READ = new Set(["large bodies", "half-sent bodies", "attempts to sign in", "wrong keys", "upgrades"]);

for (const [name, attack] of Object.entries(ATTACKS)) {
  test(`${name} take less than ${MOST_MIB} MiB of any server, which stays responsive`, { timeout: SLOW }, async () => {
    // one after another, so that the attacker gets enough CPU time
    for (const [space, port] of Object.entries(ports)) {
      const flood = new Flood(port);
      const growth = await growthDuring(warm[space]!.pid, () => attack(flood, POSTS[space]!));
      const reached = flood.answers.length + flood.closed;
      const path = POSTS[space]!.includes("POST /login") ? "/login" : "/";
      const status = await ask(port, `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0`);
      await flood.end();
      const counts: Record<string, number> = {};
      for (const line of flood.answers) counts[line.slice(9, 12)] = (counts[line.slice(9, 12)] ?? 0) + 1;
      console.log(`${name}, ${space} server: ${growth} MiB, answers ${JSON.stringify(counts)}`);
      expect(growth).toBeLessThan(MOST_MIB);
      expect([200, 401, 404, 405, 429]).toContain(status);
      // an attack that never reached the server proves nothing
      expect(reached > 0 || !READ.has(name)).toBe(true);
    }
  });
}

test(`all of them leave less than ${MOST_MIB} MiB in any server`, { timeout: SLOW }, async () => {
  for (const [space, { pid, mib }] of Object.entries(warm)) {
    const left = () => Math.round(residentMib(pid) - mib);
    // an idle server collects its garbage within seconds
    await expect.poll(left, { timeout: 20_000, interval: 500 }).toBeLessThan(MOST_MIB);
    console.log(`after all attacks, ${space} server: ${left()} MiB`);
  }
});
