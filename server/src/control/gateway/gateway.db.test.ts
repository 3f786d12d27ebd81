/** The gateway before servers that do what agent servers cannot be made to do at will. */
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";

import { afterAll, expect, test, vi } from "vitest";

import { testControlPlane } from "../../../test/control-plane.ts";
import { testDatabase } from "../../../test/db.ts";
import { WORKSPACE } from "../../../test/principal.ts";

const db = await testDatabase();
const { url, control, sql } = await testControlPlane({ HEDDLE_GATEWAY_HOLD_SECONDS: "2" }, { db });
const { table } = control.deps;

let answer = (_: IncomingMessage, response: ServerResponse): void => void response.end("ok");
const closed: string[] = [];
const upstream = createServer((asked, response) => {
  response.once("close", () => closed.push(`${asked.url}${response.writableFinished ? "" : " aborted"}`));
  answer(asked, response);
});
upstream.on("upgrade", (asked, socket) => {
  socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n");
  socket.on("error", () => {});
  socket.write(`${asked.url} ${asked.headers["x-forwarded-prefix"]}\n`);
  socket.pipe(socket);
});
await new Promise<void>((resolve) => void upstream.listen(0, "127.0.0.1", resolve));
const { port } = upstream.address() as AddressInfo;
afterAll(() => upstream.close());

const place = (await import("node:fs")).realpathSync(control.deps.directory);
const { hostname } = await import("node:os");

/** A deployment that serves from the given port, without a process of its own. */
async function serving(name: string, at: number, tenantId = WORKSPACE): Promise<void> {
  const [id, revision] = [crypto.randomUUID(), crypto.randomUUID()];
  await sql`insert into deployments (id, tenant_id, name, slug, source, source_config, status, active_revision_id)
    values (${id}, ${tenantId}, ${name}, ${name}, 'internal_source', '{}', 'UNUSED', ${revision})`;
  await sql`insert into revisions (id, deployment_id, number, source, source_config, status)
    values (${revision}, ${id}, 1, 'internal_source', '{}', 'DEPLOYED')`;
  await sql`insert into instances (id, deployment_id, revision_id, replica, state, place, port)
    values (${crypto.randomUUID()}, ${id}, ${revision}, 0, 'ready', ${`${hostname()}:${place}`}, ${at})`;
  await table.refresh();
}
await serving("here", port);
const key = { "x-api-key": "somebody" };

test("method, path, query, headers and body arrive as they were sent, and so does the answer", async () => {
  answer = (asked, response) => {
    const chunks: Buffer[] = [];
    asked.on("data", (chunk: Buffer) => chunks.push(chunk));
    asked.on("end", () => {
      response.writeHead(
        201,
        [
          ["set-cookie", "a=1"],
          ["set-cookie", "b=2"],
          ["content-location", "/threads/x"],
        ].flat(),
      );
      const { method, url: path, headers } = asked;
      response.end(JSON.stringify({ method, path, headers, body: Buffer.concat(chunks).toString() }));
    });
  };
  const body = "x".repeat(300_000);
  const got = await fetch(`${url}/d/here/threads/a%2Fb?x=1&x=2`, {
    method: "POST",
    headers: { ...key, "x-own": "é" },
    body,
  });
  const echo = (await got.json()) as { method: string; path: string; headers: Record<string, string>; body: string };
  expect(got.status).toBe(201);
  expect(got.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  expect(got.headers.get("content-location")).toBe("/threads/x");
  expect(echo).toMatchObject({ method: "POST", path: "/threads/a%2Fb?x=1&x=2", body });
  expect(echo.headers).toMatchObject({ "x-own": "é", "x-forwarded-for": "127.0.0.1", "x-forwarded-prefix": "/d/here" });
  const plain = (await (await fetch(`${url}/d/here`, { headers: key })).json()) as { path: string };
  expect(plain.path).toBe("/");
});

test("a stream comes piece by piece, and ends behind when the caller hangs up", async () => {
  answer = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("one\n");
  };
  const hangup = new AbortController();
  const got = await fetch(`${url}/d/here/stream`, { headers: key, signal: hangup.signal });
  const first = await got.body!.getReader().read();
  expect(new TextDecoder().decode(first.value)).toBe("one\n");
  expect(table.inFlight(table.find("here")!.instances[0]!.id)).toBe(1);
  hangup.abort();
  await vi.waitUntil(() => closed.includes("/stream aborted"), { timeout: 2000 });
  expect(table.inFlight(table.find("here")!.instances[0]!.id)).toBe(0);
});

test("an answer that breaks off behind breaks off here, and is not taken for a whole one", async () => {
  answer = (_, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("part");
    setTimeout(() => response.destroy(), 50);
  };
  const got = await fetch(`${url}/d/here/broken`, { headers: key });
  await expect(got.text()).rejects.toThrow();
  answer = (_, response) => response.destroy();
  const none = await fetch(`${url}/d/here/nothing`, { headers: key });
  expect([none.status, await none.json()]).toEqual([502, { detail: expect.stringContaining("before it answered") }]);
});

test("another protocol is spoken through the gateway", async () => {
  const { port: ours } = new URL(url);
  const speak = (headers: string) =>
    new Promise<string>((resolve) => {
      const socket = connect(Number(ours), "127.0.0.1");
      let text = "";
      socket.on("data", (chunk) => {
        text += chunk.toString();
        if (text.includes("/socket?x=1 /d/here\n") && !text.includes("ping")) socket.write("ping");
        if (text.endsWith("ping")) socket.end();
      });
      socket.on("close", () => resolve(text));
      socket.write(
        `GET /d/here/socket?x=1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n${headers}\r\n`,
      );
    });
  const text = await speak("x-api-key: somebody\r\n");
  expect(text).toContain("101 Switching Protocols");
  expect(text).toMatch(/ping$/);
});

test("a request waits for an instance that starts, and is told when none does", async () => {
  answer = (_, response) => void response.end("late");
  const dead = createServer();
  await new Promise<void>((resolve) => void dead.listen(0, "127.0.0.1", resolve));
  const { port: gone } = dead.address() as AddressInfo;
  await new Promise((resolve) => dead.close(resolve));
  await serving("late", gone);
  const none = await fetch(`${url}/d/late/x`, { method: "POST", headers: key, body: "a body" });
  expect([none.status, none.headers.get("retry-after")]).toEqual([503, "1"]);
  const waiting = fetch(`${url}/d/late/x`, { method: "POST", headers: key, body: "a body" });
  await new Promise((done) => setTimeout(done, 300));
  await sql`update instances set port = ${port} where port = ${gone}`;
  await table.refresh();
  expect(await (await waiting).text()).toBe("late");
  expect((await fetch(`${url}/d/nobody/x`, { headers: key })).status).toBe(404);
});

test("what it adds to a request is small", async () => {
  answer = (_, response) => void response.end("{}");
  const median = async (at: number, path: string, headers: Record<string, string>) => {
    const times: number[] = [];
    for (let n = 0; n < 300; n++) {
      const began = performance.now();
      await once(at, path, headers);
      times.push(performance.now() - began);
    }
    return times.toSorted((x, y) => x - y)[150]!;
  };
  const straight = await median(port, "/threads/x", {});
  const through = await median(Number(new URL(url).port), "/d/here/threads/x", key);
  console.log(`median ${straight.toFixed(2)} ms straight, ${through.toFixed(2)} ms through the gateway`);
  expect(through - straight).toBeLessThan(10);
});

function once(at: number, path: string, headers: Record<string, string>): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port: at, path, headers }, (response) => {
      response.resume();
      response.on("end", resolve);
    });
    asked.on("error", reject);
    asked.end();
  });
}
