import { once } from "node:events";
import { createServer, get, type RequestListener } from "node:http";
import { get as httpsGet } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

import { afterEach, expect, test } from "vitest";

import { createOutbound, type Outbound, type OutboundLimits } from "./outbound.ts";
import { OutboundError } from "./outbound-error.ts";
import { readPolicy } from "./policy.ts";
import { followRedirect } from "./redirect.ts";

/**
 * Address that stands for the internet: a machine has no public address to attack from, so 127.0.0.2 is allowed here,
 * while 127.0.0.1 is the network that must not be reached.
 */
const INTERNET = "127.0.0.2";
const INSIDE = "127.0.0.1";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function listen(server: Server, host: string, port = 0): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  server.listen(port, host);
  await once(server, "listening");
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return (server.address() as AddressInfo).port;
}

const web = (handler: RequestListener, host = INTERNET, port = 0) => listen(createServer(handler), host, port);

/** Internal server that counts connections. */
async function victim(port = 0): Promise<{ port: number; knocks: () => number }> {
  let knocks = 0;
  const server = createServer((_, response) => response.end("secret"));
  server.on("connection", () => (knocks += 1));
  return { port: await listen(server, INSIDE, port), knocks: () => knocks };
}

function outbound(
  names: Record<string, string[] | (() => string[])> = {},
  limits: Partial<OutboundLimits> = {},
): Outbound {
  const created = createOutbound(readPolicy(INTERNET, false), {
    limits,
    resolve: (host) => {
      const found = names[host];
      if (!found) return Promise.reject(new Error("ENOTFOUND"));
      const addresses = typeof found === "function" ? found() : found;
      return Promise.resolve(addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })));
    },
  });
  cleanups.push(() => created.close());
  return created;
}

async function failure(work: Promise<unknown>): Promise<OutboundError> {
  const error = await work.then(
    () => new Error("it was answered"),
    (thrown: unknown) => thrown,
  );
  if (error instanceof OutboundError) return error;
  throw error;
}

test("sends an ordinary request and returns its response", async () => {
  const port = await web((request, response) => {
    response.writeHead(201, { "x-echo": request.headers["x-mine"], "set-cookie": ["a=1", "b=2"] });
    request.pipe(response);
  });
  const answer = await outbound({ "hook.example": [INTERNET] }).fetch(`http://hook.example:${port}/x`, {
    method: "POST",
    headers: { "X-Mine": "yes" },
    body: "hello",
  });
  expect([answer.status, answer.headers.get("x-echo"), answer.headers.getSetCookie(), await answer.text()]).toEqual([
    201,
    "yes",
    ["a=1", "b=2"],
    "hello",
  ]);
});

test("does not connect to a name with a private address, and hides the address in the message", async () => {
  const { port, knocks } = await victim();
  const error = await failure(outbound({ "evil.example": [INSIDE] }).fetch(`http://evil.example:${port}/`));
  expect(error).toMatchObject({ reason: "blocked", status: 422 });
  expect(error.message).not.toContain(INSIDE);
  expect(knocks()).toBe(0);
});

test("connects only to the public addresses of a name", async () => {
  const { port, knocks } = await victim();
  await web((_, response) => response.end("outside"), INTERNET, port);
  const way = outbound({ "mixed.example": [INSIDE, "::1", "169.254.169.254", INTERNET] });
  expect(await (await way.fetch(`http://mixed.example:${port}/`)).text()).toBe("outside");
  expect(knocks()).toBe(0);
});

test("DNS rebinding: resolves a name once per connection, and blocks a later private address", async () => {
  const { port, knocks } = await victim();
  await web((_, response) => response.writeHead(200, { connection: "close" }).end("outside"), INTERNET, port);
  let lookups = 0;
  const way = outbound({ "rebind.example": () => (lookups++ === 0 ? [INTERNET] : [INSIDE]) });
  expect(await (await way.fetch(`http://rebind.example:${port}/`)).text()).toBe("outside");
  expect(lookups).toBe(1);
  expect(await failure(way.fetch(`http://rebind.example:${port}/`))).toMatchObject({ reason: "blocked" });
  expect(lookups).toBe(2);
  expect(knocks()).toBe(0);
});

test.each([
  ["an IP address", (port: number) => `http://${INSIDE}:${port}/`],
  ["a decimal IP address", (port: number) => `http://2130706433:${port}/`],
  ["IPv6", (port: number) => `http://[::ffff:7f00:1]:${port}/`],
  ["a host name", (port: number) => `http://evil.example:${port}/`],
  ["metadata", () => "http://169.254.169.254/latest/meta-data/iam/"],
])("does not follow a redirect to a private address, written as %s", async (_, location) => {
  const { port, knocks } = await victim();
  const front = await web((__, response) => response.writeHead(302, { location: location(port) }).end());
  const way = outbound({ "hook.example": [INTERNET], "evil.example": [INSIDE] });
  expect(await failure(way.fetch(`http://hook.example:${front}/`))).toMatchObject({ reason: "blocked" });
  expect(knocks()).toBe(0);
});

test.each(["file:///etc/passwd", "gopher://x/", "http://a:b@hook.example/"])(
  "rejects a redirect to %s",
  async (location) => {
    const port = await web((_, response) => response.writeHead(302, { location }).end());
    const error = await failure(outbound({ "hook.example": [INTERNET] }).fetch(`http://hook.example:${port}/`));
    expect(error.reason).toBe("bad_url");
  },
);

test("drops credentials and signatures on a redirect to another origin, and keeps them on the same one", async () => {
  const requests: Record<string, unknown>[] = [];
  const second = await web((request, response) => {
    requests.push(request.headers);
    response.end("there");
  });
  const first = await web((request, response) => {
    requests.push(request.headers);
    const location = request.url === "/one" ? "/two" : `http://other.example:${second}/`;
    response.writeHead(302, { location }).end();
  });
  const secrets = { authorization: "Bearer t", cookie: "s=1", "x-api-key": "k", "webhook-signature": "v1,abc" };
  const way = outbound({ "hook.example": [INTERNET], "other.example": [INTERNET] });
  const answer = await way.fetch(`http://hook.example:${first}/one`, { headers: { ...secrets, accept: "text/plain" } });
  expect(await answer.text()).toBe("there");
  expect(answer.url).toBe(`http://other.example:${second}/`);
  expect(requests[1]).toMatchObject(secrets);
  for (const name of Object.keys(secrets)) expect(requests[2]).not.toHaveProperty(name);
  expect(requests[2]).toMatchObject({ accept: "text/plain", host: `other.example:${second}` });
});

test("sends no body to another origin, and does not downgrade from TLS", () => {
  const hop = { url: new URL("https://a.example/"), method: "POST", headers: new Headers(), body: "x" };
  expect(() => followRedirect(hop, 307, "https://b.example/")).toThrow(/body to another origin/);
  expect(() => followRedirect(hop, 302, "http://a.example/")).toThrow(/from https/);
  expect(followRedirect(hop, 307, "/again")).toMatchObject({ method: "POST", body: "x" });
  expect(followRedirect(hop, 303, "https://b.example/")).toMatchObject({ method: "GET", body: null });
});

test("limits the number of redirects", async () => {
  let hops = 0;
  const port = await web((_, response) => response.writeHead(302, { location: `/${hops++}` }).end());
  const way = outbound({ "hook.example": [INTERNET] });
  expect(await failure(way.fetch(`http://hook.example:${port}/`))).toMatchObject({ reason: "redirect" });
  expect(hops).toBe(4);
  expect((await way.fetch(`http://hook.example:${port}/`, { redirect: "manual" })).status).toBe(302);
});

test.each([
  ["without a length", {}],
  ["announced", { "content-length": String(1024 * 1024 * 1024) }],
])("cuts off an endless response (%s) at the limit", async (_, headers) => {
  let sent = 0;
  const port = await web((__, response) => {
    response.writeHead(200, headers);
    const chunk = Buffer.alloc(64 * 1024);
    const more = () => {
      while (!response.destroyed && response.write(chunk)) sent += chunk.length;
    };
    response.on("drain", more);
    more();
  });
  const way = outbound({ "huge.example": [INTERNET] });
  const error = await failure(way.fetch(`http://huge.example:${port}/`, {}, { maxBytes: 100_000 }));
  expect(error.reason).toBe("too_large");
  expect(sent).toBeLessThan(32 * 1024 * 1024);
});

test.each([
  ["gzip", (data: Buffer) => gzipSync(data)],
  ["br", (data: Buffer) => brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
])("does not unpack a %s bomb beyond the limit, but a normal response", async (encoding, pack) => {
  const bomb = pack(Buffer.alloc(100 * 1024 * 1024));
  const small = pack(Buffer.from("honest"));
  expect(bomb.length).toBeLessThan(1024 * 1024);
  const port = await web((request, response) => {
    response.writeHead(200, { "content-encoding": encoding });
    response.end(request.url === "/bomb" ? bomb : small);
  });
  const way = outbound({ "zip.example": [INTERNET] }, { maxBytes: 1024 * 1024 });
  const before = process.memoryUsage().rss;
  expect(await failure(way.fetch(`http://zip.example:${port}/bomb`))).toMatchObject({ reason: "too_large" });
  expect(process.memoryUsage().rss - before).toBeLessThan(60 * 1024 * 1024);
  expect(await (await way.fetch(`http://zip.example:${port}/`)).text()).toBe("honest");
});

test.each(["zstd", "gzip, gzip"])("rejects a response with the encoding %s", async (encoding) => {
  const port = await web((_, response) => response.writeHead(200, { "content-encoding": encoding }).end("x"));
  const error = await failure(outbound({ "odd.example": [INTERNET] }).fetch(`http://odd.example:${port}/`));
  expect(error).toMatchObject({ reason: "network", status: 502 });
});

test("rejects endless headers", async () => {
  const server = createTcpServer((socket) => {
    socket.on("error", () => {});
    socket.write("HTTP/1.1 200 OK\r\n");
    const more = setInterval(() => socket.write(`x-${Date.now()}: ${"y".repeat(4_000)}\r\n`), 2);
    socket.on("close", () => clearInterval(more));
  });
  const port = await listen(server, INTERNET);
  const error = await failure(outbound({ "h.example": [INTERNET] }).fetch(`http://h.example:${port}/`));
  expect(error.reason).toBe("network");
});

test("a server that never answers reaches the limit for headers", async () => {
  const port = await web(() => {});
  const way = outbound({ "mute.example": [INTERNET] }, { headersMs: 200 });
  expect(await failure(way.fetch(`http://mute.example:${port}/`))).toMatchObject({ reason: "timeout" });
});

test("a slow body reaches the total limit, and a stalled one the idle limit", async () => {
  const port = await web((request, response) => {
    response.write("x");
    if (request.url === "/stops") return;
    const drip = setInterval(() => response.write("x"), 50);
    response.on("close", () => clearInterval(drip));
  });
  const way = outbound({ "slow.example": [INTERNET] });
  const startedAt = Date.now();
  const dripped = await failure(way.fetch(`http://slow.example:${port}/drips`, {}, { totalMs: 600 }));
  expect(dripped.message).toContain("within 600 ms");
  expect(Date.now() - startedAt).toBeLessThan(10_000);
  const stopped = await failure(way.fetch(`http://slow.example:${port}/stops`, {}, { bodyMs: 200 }));
  expect(stopped.message).toContain("sent nothing for 200 ms");
});

test("a name server that never answers reaches the limit for connecting", async () => {
  const way = createOutbound(readPolicy("", false), {
    resolve: () => new Promise(() => {}),
    limits: { connectMs: 300 },
  });
  cleanups.push(() => way.close());
  const startedAt = Date.now();
  expect(await failure(way.fetch("http://slow-dns.example/"))).toMatchObject({ reason: "timeout" });
  expect(Date.now() - startedAt).toBeLessThan(10_000);
});

test("reports an unknown name, a closed port and a response that is not HTTP", async () => {
  const port = await listen(
    createTcpServer((socket) => {
      socket.on("error", () => {});
      socket.end("SSH-2.0-OpenSSH\r\n");
    }),
    INTERNET,
  );
  const way = outbound({ "x.example": [INTERNET] });
  expect((await failure(way.fetch("http://nobody.example/"))).message).toBe(
    "The host name nobody.example could not be resolved.",
  );
  expect(await failure(way.fetch(`http://x.example:${port}/`))).toMatchObject({ reason: "network", status: 502 });
  expect((await failure(way.fetch("http://x.example:1/"))).message).toContain("ECONNREFUSED");
});

test("the caller's signal aborts a request with its own reason", async () => {
  const port = await web(() => {});
  const controller = new AbortController();
  const calling = outbound({ "mute.example": [INTERNET] }).fetch(`http://mute.example:${port}/`, {
    signal: controller.signal,
  });
  setTimeout(() => controller.abort(new Error("no longer wanted")), 50);
  await expect(calling).rejects.toThrow("no longer wanted");
});

const viaNode = (way: Outbound, url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const [ask, agent] = url.startsWith("https") ? [httpsGet, way.httpsAgent] : [get, way.httpAgent];
    ask(url, { agent }, (response) => {
      response.setEncoding("utf8");
      let text = "";
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve(text));
    }).on("error", reject);
  });

test("the agents for node's client and the AWS SDK apply the same policy", async () => {
  const { port, knocks } = await victim();
  await web((_, response) => response.end("outside"), INTERNET, port);
  const way = outbound({ "s3.example": [INTERNET], "evil.example": [INSIDE] });
  expect(await viaNode(way, `http://s3.example:${port}/`)).toBe("outside");
  expect(await viaNode(way, `http://${INTERNET}:${port}/`)).toBe("outside");
  for (const host of ["evil.example", INSIDE, "[::ffff:127.0.0.1]", "0x7f000001"]) {
    expect(await failure(viaNode(way, `http://${host}:${port}/`))).toMatchObject({ reason: "blocked" });
    expect(await failure(viaNode(way, `https://${host}:${port}/`))).toMatchObject({ reason: "blocked" });
  }
  const socketPath = { agent: way.httpAgent, socketPath: "/var/run/docker.sock" };
  const error = await failure(new Promise((_, reject) => get(socketPath).on("error", reject)));
  expect(error.reason).toBe("blocked");
  expect(knocks()).toBe(0);
});

test("returns only allowed addresses for a child process to pin", async () => {
  const way = outbound({ "git.example": [INSIDE, INTERNET], "evil.example": [INSIDE] });
  expect(await way.resolve("git.example", 443)).toEqual([{ address: INTERNET, family: 4 }]);
  expect(await failure(way.resolve("evil.example", 443))).toMatchObject({ reason: "blocked" });
  expect(await failure(way.resolve("169.254.169.254", 80))).toMatchObject({ reason: "blocked" });
});

test("with the system's resolver, loopback is open in development and closed otherwise", async () => {
  const { port, knocks } = await victim();
  const developer = createOutbound(readPolicy("", true));
  const server = createOutbound(readPolicy("", false));
  cleanups.push(
    () => developer.close(),
    () => server.close(),
  );
  expect(await (await developer.fetch(`http://localhost:${port}/`)).text()).toBe("secret");
  await sleep(10);
  const before = knocks();
  expect(await failure(server.fetch(`http://localhost:${port}/`))).toMatchObject({ reason: "blocked" });
  expect(knocks()).toBe(before);
});
