/**
 * Floods from loopback against `heddle dev` and `heddle up` with keys required. Without a key no way of sending, or of
 * leaving responses unread, makes a server process grow by 100 MiB, and all together leave less than that. With a key,
 * bodies that would take gigabytes when they are decoded (dense-bodies.ts) are rejected with the reason, while others are
 * answered.
 */
import type { ChildProcess } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { afterAll, beforeAll, expect, test } from "vitest";

import { freePort } from "../../server/src/base/free-port.ts";
import { AGENT, CONTROL, type DenseBody, TRACE } from "./dense-bodies.ts";
import { ask, Flood, growthDuring, findListener, residentMib, type Warm } from "./flood.ts";
import { startPrinted } from "./printed-platform.ts";

const PROJECT = fileURLToPath(new URL("../../server/test/fixtures/agent-project/langgraph.json", import.meta.url));
const SLOW = 240_000;
const MOST_MIB = 100;
/** Memory that an authenticated caller's body may take for a moment, of servers with a small heap. */
const HEAP_MIB = 512;
const MOST_WITH_KEY_MIB = 256;
const UUID = "00000000-0000-7000-8000-0000000000ff";

// growth is measured against servers that have loaded sources, which take 40 MB more from the start
delete process.env["HEDDLE_COMPILED_SOURCES"];

const dataDir = mkdtempSync(join(tmpdir(), "heddle-floods-"));
// Postgres does not run as root, and its user must reach its data
chmodSync(dataDir, 0o755);
const children: ChildProcess[] = [];
const ports: Record<string, number> = {};
const keys: Record<string, string> = {};
const grpcPort = await freePort();
/** Each server's process, and its memory before the first attack. */
const warm: Record<string, Warm> = {};
const LOGIN = {
  method: "POST",
  body: '{"email":"a@b.example","password":"x"}',
  headers: { "content-type": "application/json", "x-api-key": "lsv2_sk_wrong" },
};

async function start(command: "dev" | "up", args: string[]): Promise<(name: string) => number> {
  const env = {
    HOME: dataDir,
    HEDDLE_HOSTS: "1",
    HEDDLE_AUTH: "required",
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
  };
  const grpc = command === "dev" ? { HEDDLE_OTLP_GRPC_PORT: String(grpcPort) } : {};
  const { child, url, key } = await startPrinted([command, "--data-dir", join(dataDir, command), ...args], {
    ...env,
    ...grpc,
  });
  children.push(child);
  keys[command] = key();
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
const rawRequest = (line: string, ...headers: string[]) =>
  `${line} HTTP/1.1\r\n${JSON_HEAD}${headers.map((header) => `${header}\r\n`).join("")}\r\n`;
const sized = (line: string, mib: number) => rawRequest(line, `Content-Length: ${mib * 1024 * 1024}`);
const chunked = (line: string) => rawRequest(line, "Transfer-Encoding: chunked");

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
      flood.open(rawRequest(posts[n % posts.length]!, "Content-Length: 65536") + "x".repeat(60_000));
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
      for (const path of ["/openapi.json", "/docs"]) flood.open(rawRequest(`GET ${path}`), false);
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
      flood.open(rawRequest("POST /login", `Content-Length: ${body.length}`) + body);
      if (n % 50 === 0) await sleep(20);
    }
    await flood.heard();
  },
  "wrong keys": async (flood) => {
    for (let n = 0; n < 40; n++) {
      const key = () => `lsv2_sk_${Math.random().toString(36).slice(2).padEnd(32, "0")}`;
      const lines = Array.from({ length: 15 }, () =>
        rawRequest("GET /api/v1/workspaces", `X-Api-Key: ${key()}`, `X-Pad: ${"x".repeat(4000)}`),
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
      flood.open(rawRequest(`GET ${path}`, ...upgrade) + "x".repeat(60_000));
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

const DENSE: [string, string, Record<string, () => DenseBody>][] = [
  ["trace", "dev", TRACE],
  ["agent", "dev", AGENT],
  ["control", "up", CONTROL],
];
/** A request of another caller. */
const OTHERS: Record<string, string> = {
  trace: "/api/v1/sessions?limit=1",
  agent: "/assistants/search",
  control: "/v2/deployments",
};

/** Answers of `work`, and the longest that others waited meanwhile, in milliseconds. */
async function whileOthersAsk<T>(
  space: string,
  key: string,
  work: () => Promise<T>,
): Promise<{ result: T; ms: number }> {
  const url = `http://127.0.0.1:${ports[space]}${OTHERS[space]}`;
  const init = { headers: { "x-api-key": key, "content-type": "application/json" } };
  let isOver = false;
  let longest = 0;
  const asking = (async () => {
    while (!isOver) {
      const at = performance.now();
      const response = await fetch(url, space === "agent" ? { ...init, method: "POST", body: "{}" } : init);
      await response.arrayBuffer();
      expect(response.status).toBe(200);
      longest = Math.max(longest, performance.now() - at);
      await sleep(20);
    }
  })();
  try {
    return { result: await work(), ms: longest };
  } finally {
    isOver = true;
    await asking;
  }
}

/** How long others wait at rest: a machine may be busy with other things. */
const atRest: Record<string, number> = {};
const patience = (space: string) => 2000 + 3 * atRest[space]!;

/** Sends on its own connection: one that is rejected before its body has arrived is closed. */
function send(space: string, key: string, { method = "POST", path, headers, body }: DenseBody): Promise<Answer> {
  const init = { port: ports[space], path, method, agent: false as const };
  const length = { "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const outgoing = request({ ...init, headers: { ...headers, ...length, "x-api-key": key } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode!, text })).on("error", reject);
    });
    let answered = false;
    outgoing.on("response", () => (answered = true));
    // the answer may arrive before the rest of the body is sent
    outgoing.on("error", (error) => void (!answered && reject(error))).end(body);
  });
}

interface Answer {
  status: number;
  text: string;
}

for (const [space, command, bodies] of DENSE) {
  test(
    `the ${space} server rejects dense bodies of callers with a key, and answers others`,
    { timeout: 600_000 },
    async () => {
      const key = keys[command]!;
      const { pid } = warm[space]!;
      atRest[space] = (await whileOthersAsk(space, key, () => sleep(3000))).ms;
      const wrong: string[] = [];
      for (const [name, make] of Object.entries(bodies)) {
        const dense = make();
        const began = performance.now();
        let answered = { result: { status: 0, text: "" }, ms: 0 };
        const growth = await growthDuring(pid, async () => {
          answered = await whileOthersAsk(space, key, () => send(space, key, dense));
        });
        const { result, ms } = answered;
        const line = `${name}: ${dense.body.length} bytes, ${result.status} after ${Math.round(performance.now() - began)} ms, ${growth} MiB, others ${Math.round(ms)} ms: ${result.text.slice(0, 150)}`;
        console.log(line);
        const isExpected = (dense.answers ?? [413]).includes(result.status);
        const saysWhy = result.status < 300 || result.text.length > 20;
        if (!isExpected || !saysWhy || growth > MOST_WITH_KEY_MIB || ms > patience(space)) wrong.push(line);
      }
      expect(wrong).toEqual([]);
    },
  );
}

test("the trace server rejects dense messages of gRPC", { timeout: SLOW }, async () => {
  const session = connect(`http://127.0.0.1:${grpcPort}`);
  const call = (message: Buffer) =>
    new Promise<string>((resolve, reject) => {
      const stream = session.request({
        ":method": "POST",
        ":path": "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
        "content-type": "application/grpc",
        "grpc-encoding": "gzip",
        te: "trailers",
        "x-api-key": keys["dev"]!,
      });
      let status = "";
      const read = (headers: Record<string, unknown>) =>
        (status = `${headers["grpc-status"] as string} ${headers["grpc-message"] as string}`);
      stream
        .on("response", read)
        .on("trailers", read)
        .on("error", reject)
        .on("close", () => resolve(status));
      const prefix = Buffer.alloc(5);
      prefix[0] = 1;
      prefix.writeUInt32BE(message.length, 1);
      stream.end(Buffer.concat([prefix, message]));
      stream.resume();
    });
  const { pid } = warm["trace"]!;
  let answer = { result: "", ms: 0 };
  const message = gzipSync(Buffer.alloc(62 * 1024 * 1024, Buffer.from([0x0a, 0x00])));
  const growth = await growthDuring(pid, async () => {
    answer = await whileOthersAsk("trace", keys["dev"]!, () => call(message));
  });
  session.close();
  console.log(`gRPC: ${message.length} bytes, ${growth} MiB, others ${Math.round(answer.ms)} ms: ${answer.result}`);
  // RESOURCE_EXHAUSTED
  expect(answer.result).toMatch(/^8 /);
  expect(growth).toBeLessThan(MOST_WITH_KEY_MIB);
  expect(answer.ms).toBeLessThan(patience("trace"));
});

test("many dense bodies at once take no more", { timeout: SLOW }, async () => {
  const key = keys["dev"]!;
  const dense = [
    TRACE["63 KB of empty resources"]!(),
    TRACE["60 MiB of empty objects"]!(),
    TRACE["a batch of empty runs"]!(),
  ];
  const growth = await growthDuring(warm["trace"]!.pid, async () => {
    const sent = Array.from({ length: 24 }, (_, n) => send("trace", key, dense[n % dense.length]!));
    const { result, ms } = await whileOthersAsk("trace", key, () => Promise.all(sent));
    expect(result.every(({ status }) => status === 413 || status === 429)).toBe(true);
    expect(ms).toBeLessThan(patience("trace"));
  });
  console.log(`24 dense bodies at once: ${growth} MiB`);
  expect(growth).toBeLessThan(MOST_WITH_KEY_MIB);
});

test(`all of them leave less than ${MOST_MIB} MiB in any server`, { timeout: SLOW }, async () => {
  for (const [space, { pid, mib }] of Object.entries(warm)) {
    const left = () => Math.round(residentMib(pid) - mib);
    // an idle server collects its garbage within seconds
    await expect.poll(left, { timeout: 20_000, interval: 500 }).toBeLessThan(MOST_MIB);
    console.log(`after all attacks, ${space} server: ${left()} MiB`);
  }
});
