/** The gateway with scripted servers behind it, for behaviour that agent servers do not show on demand. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { promisify } from "node:util";

import { afterAll, expect, test, vi } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { type TestControlPlane, testControlPlane } from "../../../test/control-plane.ts";
import { listenAgent } from "../../../test/protocol-client.ts";
import { serveFrom } from "../../../test/scripted-deployment.ts";

const here = await testControlPlane({ HEDDLE_GATEWAY_HOLD_SECONDS: "2" });
const { url, control, sql } = here;
const { table } = control.deps;

let answer = (_: IncomingMessage, response: ServerResponse): void => void response.end("ok");
const closed: string[] = [];
const upstream = createServer((received, response) => {
  response.once("close", () => closed.push(`${received.url}${response.writableFinished ? "" : " aborted"}`));
  answer(received, response);
});
upstream.on("upgrade", (received, socket) => {
  socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
  socket.on("error", () => {});
  socket.write(`${received.url} ${received.headers["x-forwarded-prefix"]}\n`);
  socket.pipe(socket);
});
await new Promise<void>((resolve) => void upstream.listen(0, "127.0.0.1", resolve));
const { port } = upstream.address() as AddressInfo;
afterAll(() => upstream.close());

const serving = (name: string, at: number, where: TestControlPlane = here): Promise<void> => serveFrom(at, name, where);
await serving("here", port);
const key = { "x-api-key": "somebody" };

const metrics = async () => (await fetch(`${url}/metrics`)).text();

test("metrics count requests by deployment and class, and forget a deleted deployment", async () => {
  answer = (request, response) => void response.writeHead(request.url === "/bad" ? 500 : 204).end();
  await serving("counted", port);
  const { deploymentId } = table.find("counted")!;
  for (const path of ["/", "/", "/bad"]) await fetch(`${url}/d/counted${path}`, { headers: key });
  await fetch(`${url}/d/no-such-name/x`, { headers: key });
  const requests = (deployment: string, status: string) =>
    `heddle_gateway_requests_total{deployment="${deployment}",status="${status}"}`;
  await expect.poll(metrics).toContain(`${requests(deploymentId, "2xx")} 2\n`);
  const text = await metrics();
  expect(text).toContain(`${requests(deploymentId, "5xx")} 1\n`);
  expect(text).toContain(`${requests("none", "4xx")} 1\n`);
  expect(text).toContain(`heddle_gateway_request_duration_seconds_count{deployment="${deploymentId}"} 3\n`);
  // names of deployments need a key
  expect(text).not.toMatch(/counted|no-such-name/);
  await sql`delete from deployments where id = ${deploymentId}`;
  await table.refresh();
  expect(await metrics()).not.toContain(deploymentId);
});

test("metrics count revisions by status and instances by state", async () => {
  const counted = ["heddle_revisions", "heddle_instances", "heddle_instances_crashed"];
  const counts = async () => (await metrics()).split("\n").filter((line) => counted.includes(line.split(/[{ ]/)[0]!));
  expect(await counts()).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^heddle_revisions{status="DEPLOYED"} [1-9]/),
      'heddle_revisions{status="BUILD_FAILED"} 0',
      expect.stringMatching(/^heddle_instances{state="ready"} [1-9]/),
      "heddle_instances_crashed 0",
    ]),
  );
});

test("metrics count leases on revisions that this process took over", async () => {
  const series = 'heddle_revision_lease_losses_total{holder="other"}';
  expect(await metrics()).toContain(`${series} 0\n`);
  const { deploymentId } = table.find("here")!;
  await sql`insert into revisions (id, deployment_id, number, source, source_config, status, holder, lease_until)
    values (${crypto.randomUUID()}, ${deploymentId}, 2, 'internal_source', '{}', 'BUILDING', 'x', now() - interval '1 h')`;
  await expect.poll(metrics).toContain(`${series} 1\n`);
});

test("does not serve the metrics of a deployment, which need no key", async () => {
  const received: string[] = [];
  answer = (request, response) => {
    received.push(request.url!);
    response.end("heddle_runs_total 1");
  };
  for (const path of [...METRICS, "/metrics?x=1", "/x\\..\\metrics"]) {
    expect([path, (await askRaw(`/d/here${path}`)).status]).toEqual([path, 404]);
  }
  expect((await askRaw("/d/here/api/metrics")).status).toBe(200);
  expect(received).toEqual(["/api/metrics"]);
});

const METRICS = [
  "/metrics",
  "/%6detrics",
  "//metrics",
  "/metrics/",
  "/x/../metrics",
  "/x/%2e%2e/metrics",
  "/./metrics",
];

/** Sends a request target as it is; `fetch` normalizes it. */
const askRaw = (
  path: string,
  headers: Record<string, string> = {},
  at = url,
): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    const { hostname: host, port } = new URL(at);
    const sent = request({ host, port, path, headers }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      response.on("end", () => resolve({ status: response.statusCode!, body }));
    });
    sent.on("error", reject).end();
  });

test.each([
  ["without a prefix", {}, ""],
  ["with a prefix", { MOUNT_PREFIX: "/team" }, "/team"],
])("an agent server %s rejects its metrics to forwarded requests in every spelling", async (_, env, prefix) => {
  const agent = await listenAgent(await testAgentServer(env), env);
  const name = prefix === "" ? "agent" : "agent-below";
  await serving(name, Number(new URL(agent.url).port));
  // the operator's scrapes, directly
  for (const path of ["/metrics", `${prefix}/metrics`, `${prefix}/x/../metrics`])
    expect((await askRaw(path, {}, agent.url)).body).toContain("# HELP heddle_");
  expect((await askRaw(`/d/${name}${prefix}/info`)).status).toBe(200);
  for (const before of new Set([prefix, ""])) {
    for (const path of METRICS) {
      for (const headers of [{}, { "heddle-forwarded": "" }, { connection: "heddle-forwarded, close" }]) {
        const answer = await askRaw(`/d/${name}${before}${path}`, headers as Record<string, string>);
        expect([path, answer.status]).toEqual([path, 404]);
        expect(answer.body).not.toContain("heddle_http");
      }
    }
  }
});

test("forwards no internal headers of a caller", async () => {
  answer = (received, response) => void response.end(JSON.stringify(received.headers));
  const { body } = await askRaw("/d/here/x", { "X-Heddle-Own-Code": "stolen", "heddle-forwarded": "x", "x-own": "1" });
  const headers = JSON.parse(body) as object;
  expect(headers).toMatchObject({ "heddle-forwarded": "gateway", "x-own": "1" });
  expect(headers).not.toHaveProperty("x-heddle-own-code");
});

test.each(["/d/here/a%0A", "/d/here/a%00b", "/d/here%0a/x", "/v2/deployments%0A"])("rejects %s", async (path) => {
  answer = (_, response) => void response.end("forwarded");
  const answered = await askRaw(path, key);
  expect([answered.status, JSON.parse(answered.body)]).toEqual([400, { detail: expect.stringContaining("control") }]);
});

test("forwards the body of a request that offers HTTP/2", async () => {
  answer = (received, response) => {
    response.setHeader("x-seen", `${received.headers.upgrade} ${received.headers["http2-settings"]}`);
    received.pipe(response);
  };
  const body = "x".repeat(200_000);
  const args = ["-sS", "-i", "-m", "20", "--http2", "--data-binary", "@-", `${url}/d/here/runs`];
  const sent = promisify(execFile)("curl", args, { maxBuffer: 1e6 });
  sent.child.stdin!.end(body);
  const { stdout } = await sent;
  expect(stdout).toMatch(/^HTTP\/1\.1 200 OK\r\n/m);
  expect(stdout).toContain("x-seen: undefined undefined");
  expect(stdout.endsWith(body)).toBe(true);
  // the control plane's own API
  const own = await promisify(execFile)("curl", ["-sS", "--http2", `${url}/ok`, `${url}/ok`]);
  expect(own.stdout).toMatch(/^\{"ok":true.*\}\{"ok":true.*\}$/);
});

test("forwards method, path, query, headers and body unchanged, and the response too", async () => {
  answer = (received, response) => {
    const chunks: Buffer[] = [];
    received.on("data", (chunk: Buffer) => chunks.push(chunk));
    received.on("end", () => {
      response.writeHead(
        201,
        [
          ["set-cookie", "a=1"],
          ["set-cookie", "b=2"],
          ["content-location", "/threads/x"],
        ].flat(),
      );
      const { method, url: path, headers } = received;
      response.end(JSON.stringify({ method, path, headers, body: Buffer.concat(chunks).toString() }));
    });
  };
  const body = "x".repeat(300_000);
  const got = await fetch(`${url}/d/here/threads/a%2Fb?x=1&x=2`, {
    method: "POST",
    headers: { ...key, "x-own": "é", traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" },
    body,
  });
  const echo = (await got.json()) as { method: string; path: string; headers: Record<string, string>; body: string };
  expect(got.status).toBe(201);
  expect(got.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  expect(got.headers.get("content-location")).toBe("/threads/x");
  expect(echo).toMatchObject({ method: "POST", path: "/threads/a%2Fb?x=1&x=2", body });
  expect(echo.headers["traceparent"]).toBe("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  expect(echo.headers).toMatchObject({ "x-own": "é", "x-forwarded-for": "127.0.0.1", "x-forwarded-prefix": "/d/here" });
  const plain = (await (await fetch(`${url}/d/here`, { headers: key })).json()) as { path: string };
  expect(plain.path).toBe("/");
});

test("forwards a stream chunk by chunk, and closes it when the client disconnects", async () => {
  answer = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("one\n");
  };
  const hangup = new AbortController();
  const got = await fetch(`${url}/d/here/stream`, { headers: key, signal: hangup.signal });
  const first = await got.body!.getReader().read();
  expect(new TextDecoder().decode(first.value)).toBe("one\n");
  expect(table.inFlight(table.find("here")!.instances[0]!.id)).toBe(1);
  const label = `{deployment="${table.find("here")!.deploymentId}"}`;
  expect(await metrics()).toContain(`heddle_gateway_open_streams${label} 1\n`);
  expect(await metrics()).toContain(`heddle_gateway_in_flight_requests${label} 1\n`);
  hangup.abort();
  await vi.waitUntil(() => closed.includes("/stream aborted"), { timeout: 30_000 });
  await expect.poll(metrics).toContain(`heddle_gateway_open_streams${label} 0\n`);
  expect(await metrics()).toContain(`heddle_gateway_in_flight_requests${label} 0\n`);
  expect(table.inFlight(table.find("here")!.instances[0]!.id)).toBe(0);
});

test("forwards headers before a slow body, and ends a response without a body", async () => {
  let speak = (): void => {};
  answer = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "x-early": "yes" }).flushHeaders();
    speak = () => response.end("late");
  };
  const got = await fetch(`${url}/d/here/silent`, { headers: key });
  expect(got.headers.get("x-early")).toBe("yes");
  speak();
  expect(await got.text()).toBe("late");
  answer = (_, response) => response.writeHead(204).end();
  expect((await fetch(`${url}/d/here/nothing`, { headers: key })).status).toBe(204);
  const head = await fetch(`${url}/d/here/head`, { method: "HEAD", headers: key });
  expect([head.status, await head.text()]).toEqual([204, ""]);
});

test("aborts its response when the instance aborts, and responds with 502 without headers", async () => {
  answer = (_, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("part");
    setTimeout(() => response.destroy(), 50);
  };
  const got = await fetch(`${url}/d/here/broken`, { headers: key });
  await expect(got.text()).rejects.toThrow();
  answer = (_, response) => response.destroy();
  const none = await fetch(`${url}/d/here/nothing`, { headers: key });
  expect([none.status, await none.json()]).toEqual([502, { detail: expect.stringContaining("before it responded") }]);
});

test("forwards a protocol upgrade", async () => {
  const { port: gatewayPort } = new URL(url);
  const speak = (headers: string) =>
    new Promise<string>((resolve) => {
      const socket = connect(Number(gatewayPort), "127.0.0.1");
      let text = "";
      socket.on("data", (chunk) => {
        text += chunk.toString();
        if (text.includes("/socket?x=1 /d/here\n") && !text.includes("ping")) socket.write("ping");
        if (text.endsWith("ping")) socket.end();
      });
      socket.on("close", () => resolve(text));
      socket.write(
        `GET /d/here/socket?x=1 HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${headers}\r\n`,
      );
    });
  const text = await speak("x-api-key: somebody\r\n");
  expect(text).toContain("101 Switching Protocols");
  expect(text).toMatch(/ping$/);
});

test("a request waits for a starting instance, and fails with a reason when none starts", async () => {
  answer = (_, response) => void response.end("late");
  const dead = createServer();
  await new Promise<void>((resolve) => void dead.listen(0, "127.0.0.1", resolve));
  const { port: closedPort } = dead.address() as AddressInfo;
  await new Promise((resolve) => dead.close(resolve));
  await serving("late", closedPort);
  const none = await fetch(`${url}/d/late/x`, { method: "POST", headers: key, body: "a body" });
  expect([none.status, none.headers.get("retry-after")]).toEqual([503, "1"]);
  const waiting = fetch(`${url}/d/late/x`, { method: "POST", headers: key, body: "a body" });
  await new Promise((done) => setTimeout(done, 300));
  await sql`update instances set port = ${port} where port = ${closedPort}`;
  await table.refresh();
  expect(await (await waiting).text()).toBe("late");
  expect((await fetch(`${url}/d/nobody/x`, { headers: key })).status).toBe(404);
});

test("with a domain each deployment has a host, in responses and for requests, WebSockets and streams", async () => {
  const env = { HEDDLE_GATEWAY_DOMAIN: "agents.example", HEDDLE_CONTROL_PUBLIC_URL: "https://control.example:8443" };
  const hosts = await testControlPlane(env);
  await serving("here", port, hosts);
  const [row] = await hosts.sql<{ id: string }[]>`select id from deployments where name = 'here'`;
  const { json } = await hosts.call("GET", `/v2/deployments/${row!.id}`);
  expect(json.source_config.custom_url).toBe("https://here.agents.example:8443");

  const at = Number(new URL(hosts.url).port);
  const ask = (host: string, path: string, more: Record<string, string> = {}) =>
    new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
      const sent = request({ host: "127.0.0.1", port: at, path, headers: { host, ...more } }, (response) => {
        let body = "";
        response.on("data", (chunk: Buffer) => (body += chunk.toString()));
        response.on("end", () => resolve({ status: response.statusCode!, headers: response.headers, body }));
      });
      sent.on("error", reject);
      sent.end();
    });
  answer = (received, response) => {
    response.writeHead(307, { location: "/threads/x" });
    response.end(JSON.stringify({ path: received.url, headers: received.headers }));
  };
  const got = await ask("here.agents.example:8443", "/v2/deployments?x=1", {
    "x-forwarded-host": "evil.example",
    "x-forwarded-proto": "gopher",
    "x-forwarded-prefix": "/evil",
  });
  expect([got.status, got.headers["location"]]).toEqual([307, "/threads/x"]);
  const received = JSON.parse(got.body) as { path: string; headers: Record<string, string> };
  expect(received.path).toBe("/v2/deployments?x=1");
  expect(received.headers).toMatchObject({ host: "here.agents.example:8443", "x-forwarded-proto": "http" });
  expect(received.headers["x-forwarded-host"]).toBe("here.agents.example:8443");
  expect(received.headers["x-forwarded-prefix"]).toBeUndefined();
  expect((await ask("agents.example", "/d/here/y")).headers["location"]).toBe("/d/here/threads/x");
  expect((await ask("control.example", "/v2/deployments")).status).toBe(200);
  for (const host of ["nobody.agents.example", "a.here.agents.example"]) {
    const none = await ask(host, "/v2/deployments");
    expect([none.status, none.body]).toEqual([404, JSON.stringify({ detail: `There is no deployment at ${host}.` })]);
  }

  const socket = connect(at, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk) => (text += chunk.toString()));
  socket.write(
    "GET /socket?x=1 HTTP/1.1\r\nHost: here.agents.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
  );
  await vi.waitUntil(() => text.includes("/socket?x=1 undefined\n"), { timeout: 30_000 });
  socket.write("ping");
  await vi.waitUntil(() => text.endsWith("ping"), { timeout: 30_000 });
  socket.destroy();

  answer = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("one\n");
  };
  const streaming = request({
    host: "127.0.0.1",
    port: at,
    path: "/in-host-mode",
    headers: { host: "here.agents.example" },
  });
  streaming.on("error", () => {});
  streaming.end();
  const [response] = (await once(streaming, "response")) as [IncomingMessage];
  const [chunk] = (await once(response, "data")) as [Buffer];
  expect(chunk.toString()).toBe("one\n");
  response.on("error", () => {});
  streaming.destroy();
  await vi.waitUntil(() => closed.includes("/in-host-mode aborted"), { timeout: 30_000 });
  await hosts.stop();
});

test("a client that disconnects before the upgrade completes ends the upstream request", async () => {
  const silent = createServer();
  let ended = false;
  silent.on("upgrade", (_, behind) => {
    behind.on("error", () => {});
    behind.once("end", () => (ended = true));
    behind.resume();
  });
  await new Promise<void>((resolve) => void silent.listen(0, "127.0.0.1", resolve));
  await serving("silent", (silent.address() as AddressInfo).port);
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.write("GET /d/silent/x HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  await vi.waitUntil(() => table.inFlight(table.find("silent")!.instances[0]!.id) === 1, { timeout: 30_000 });
  socket.destroy();
  await vi.waitUntil(() => ended, { timeout: 30_000 });
  await vi.waitUntil(() => table.inFlight(table.find("silent")!.instances[0]!.id) === 0, { timeout: 30_000 });
  expect(ended).toBe(true);
  silent.close();
});

test("forwards a whole response that declines an upgrade", async () => {
  const rejecting = createServer();
  rejecting.on("upgrade", (_, behind) => {
    behind.end(
      "HTTP/1.1 426 Upgrade Required\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nnot\r\n5\r\n here\r\n0\r\n\r\n",
    );
  });
  await new Promise<void>((resolve) => void rejecting.listen(0, "127.0.0.1", resolve));
  await serving("rejecting", (rejecting.address() as AddressInfo).port);
  const headers = { connection: "Upgrade", upgrade: "websocket" };
  const sent = request({ host: "127.0.0.1", port: new URL(url).port, path: "/d/rejecting/x", headers });
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  expect([response.statusCode, Buffer.concat(chunks).toString()]).toEqual([426, "not here"]);
  rejecting.close();
});

// a time limit, which a busy machine may exceed once
test("adds little latency to a request", { retry: 2 }, async () => {
  answer = (_, response) => void response.end("{}");
  const median = async (at: number, path: string, headers: Record<string, string>) => {
    const times: number[] = [];
    for (let n = 0; n < 300; n++) {
      const startedAt = performance.now();
      await ask(at, path, headers);
      times.push(performance.now() - startedAt);
    }
    return times.toSorted((x, y) => x - y)[150]!;
  };
  const straight = await median(port, "/threads/x", {});
  const through = await median(Number(new URL(url).port), "/d/here/threads/x", key);
  console.log(`median ${straight.toFixed(2)} ms straight, ${through.toFixed(2)} ms through the gateway`);
  expect(through - straight).toBeLessThan(10);
});

function ask(at: number, path: string, headers: Record<string, string>): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port: at, path, headers }, (response) => {
      response.resume();
      response.on("end", resolve);
    });
    sent.on("error", reject);
    sent.end();
  });
}
