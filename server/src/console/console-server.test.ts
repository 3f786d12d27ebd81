import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test, vi } from "vitest";

import { readOptions } from "../base/config/options.ts";
import { createLog } from "../base/log.ts";
import { PAGES, startConsoleServer } from "./console-server.ts";
import { consoleOptions } from "./settings.ts";

const directory = mkdtempSync(join(tmpdir(), "heddle-console-files-"));
mkdirSync(join(directory, "assets"));
writeFileSync(join(directory, "index.html"), "<title>Heddle</title>");
writeFileSync(join(directory, "assets", "app-1a2b.js"), "export {};");
mkdirSync(join(directory, "docs"));
for (const name of ["index", "rules"]) writeFileSync(join(directory, "docs", `${name}.html`), name);

let answer = (_: IncomingMessage, response: ServerResponse): void => void response.end("ok");
const upstream = createServer((request, response) => answer(request, response));
upstream.on("upgrade", (request, socket) => {
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n${request.url}\n`);
  socket.on("error", () => {});
  socket.pipe(socket);
});
await new Promise<void>((resolve) => void upstream.listen(0, "127.0.0.1", resolve));
const behind = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;

let files: string | null = directory;
let agent: string | null = behind;
const start = (keysNeeded: boolean, env: Record<string, string> = {}) =>
  startConsoleServer({
    settings: readOptions(consoleOptions, env),
    log: createLog("silent"),
    host: "127.0.0.1",
    port: 0,
    files: () => files,
    spaces: { agent: () => agent, trace: () => null, control: () => null },
    keysNeeded,
  });
const server = await start(false, { HEDDLE_CONSOLE_HOSTS: "console.example" });
const { url } = server;
afterAll(async () => {
  await server.close();
  upstream.close();
  rmSync(directory, { recursive: true });
});

/** Requests with an arbitrary Host header, which fetch does not permit. */
function askAs(host: string, at = url, path = "/console.json"): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(at + path, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    sent.on("error", reject).end();
  });
}

test("is alive while it is being built, and ready afterwards", async () => {
  const ask = async (path: string) => {
    const response = await fetch(url + path);
    return [response.status, await response.json()];
  };
  files = null;
  expect(await ask("/livez")).toEqual([200, { ok: true, checks: { event_loop: { ok: true } } }]);
  expect(await ask("/readyz")).toEqual([
    503,
    {
      ok: false,
      detail: "files: the console is being built",
      checks: { files: { ok: false, reason: "the console is being built" } },
    },
  ]);
  files = directory;
  expect(await ask("/readyz")).toEqual([200, { ok: true, checks: { files: { ok: true } } }]);
});

test("serves the application at the paths of its pages, files under their names, and the configured spaces", async () => {
  for (const path of ["/", "/a/local/threads/x", "/public/t/r", "/a/local/threads/dotted.id"]) {
    const page = await fetch(url + path);
    expect([page.status, await page.text()]).toEqual([200, "<title>Heddle</title>"]);
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(page.headers.get("cache-control")).toBe("no-cache");
  }
  const asset = await fetch(`${url}/assets/app-1a2b.js`);
  expect([asset.status, asset.headers.get("cache-control")]).toEqual([200, "public,max-age=31536000,immutable"]);
  expect((await fetch(`${url}/assets/none.js`)).status).toBe(404);
  expect((await fetch(`${url}/../package.json`)).status).toBe(404);
  expect((await fetch(url, { method: "POST" })).status).toBe(405);
  expect(await (await fetch(`${url}/console.json`)).json()).toEqual({
    version: expect.stringMatching(/^\d/),
    spaces: { agent: true, trace: false, control: false },
  });
});

test("serves the documentation at /docs, with the policy of the console", async () => {
  for (const [path, text] of Object.entries({ "/docs": "index", "/docs/": "index", "/docs/rules": "rules" })) {
    const page = await fetch(url + path);
    expect([page.status, await page.text(), page.headers.get("cache-control")]).toEqual([200, text, "no-cache"]);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'self'");
  }
});

test("below a path, requests with and without it are answered, and pages name it", async () => {
  writeFileSync(
    join(directory, "index.html"),
    '<link href="/a.css" nonce="NONCE_OF_THIS_RESPONSE"><title>Heddle</title>',
  );
  const origin = "https://intranet.example";
  const below = await start(false, {
    HEDDLE_CONSOLE_URL: "https://x.example/tools/heddle/",
    HEDDLE_CONSOLE_EMBED_ORIGINS: origin,
  });
  const moved = await fetch(`${below.url}/tools/heddle`, { redirect: "manual" });
  expect([moved.status, moved.headers.get("location")]).toEqual([308, "/tools/heddle/"]);
  const nonces = new Set<string>();
  for (const path of ["/", "/tools/heddle/", "/tools/heddle/a/local/threads/x", "/sign-in"]) {
    const page = await fetch(below.url + path);
    const [, nonce] = /href="\/tools\/heddle\/a\.css" nonce="([^"]+)"/.exec(await page.text())!;
    nonces.add(nonce!);
    const policy = page.headers.get("content-security-policy");
    expect(policy).toContain(`style-src 'self' 'nonce-${nonce}';`);
    expect(policy).toContain(`frame-ancestors ${origin}`);
    expect(page.headers.get("x-frame-options")).toBeNull();
  }
  expect(nonces.size).toBe(4);
  for (const path of [
    "/console.json",
    "/tools/heddle/console.json",
    "/tools/heddle/api/agent/ok",
    "/tools/heddle/docs/rules",
  ]) {
    expect([path, (await fetch(below.url + path)).status]).toEqual([path, 200]);
  }
  expect((await fetch(`${below.url}/tools/heddlex/console.json`)).status).toBe(404);
  expect((await fetch(`${below.url}/tools/heddle/docs/../../index`)).status).toBe(404);
  // the policy says which pages may show it in a frame
  const framed = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" };
  const ask = (at: string) =>
    new Promise<number>((resolve) =>
      request(at, { headers: framed }, (got) => resolve(got.resume().statusCode!)).end(),
    );
  expect([await ask(below.url), await ask(url)]).toEqual([200, 403]);
  await below.close();
  writeFileSync(join(directory, "index.html"), "<title>Heddle</title>");
  expect(() => start(false, { HEDDLE_CONSOLE_EMBED_ORIGINS: "*" })).toThrow(/must name origins/);
});

test("answers any Range with the whole file", async () => {
  const whole = await (await fetch(url)).text();
  for (const range of [
    "bytes=9-1",
    "bytes=-1-0",
    "bytes=0-0",
    "bytes=99999999-",
    "bytes=1-0,".repeat(500),
    "x",
    "bytes=NaN-1",
  ]) {
    const got = await fetch(url, { headers: { range } });
    expect([range, got.status, await got.text()]).toEqual([range, 200, whole]);
  }
});

test("paths of the APIs are not found, so that a client with the console's URL does not take a page for an answer", async () => {
  for (const path of ["/api/v1/info", "/info", "/api/v1/sessions?limit=1", "/threads/search", "/ok", "/nothing.js"]) {
    const { status, headers } = await fetch(url + path);
    expect([path, status, headers.get("content-type")]).toEqual([path, 404, "text/plain; charset=utf-8"]);
    // a person who opens it in a browser sees the application's own "Page not found"
    const page = await fetch(url + path, { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } });
    expect([path, page.status, page.headers.get("content-type")]).toEqual([path, 200, "text/html;charset=utf-8"]);
  }
  // paths of an API that are also pages
  for (const path of ["/datasets", "/public/t/run"]) {
    expect((await fetch(url + path, { headers: { accept: "application/json" } })).status).toBe(404);
    expect((await fetch(url + path, { headers: { accept: "text/html,*/*;q=0.8" } })).status).toBe(200);
  }
});

test("the pages of the application are served", () => {
  const tree = readFileSync(new URL("../../../console/src/route-tree.gen.ts", import.meta.url), "utf8");
  const segments = Array.from(tree.matchAll(/^ *\| '\/([a-z-]+)/gm), ([, segment]) => segment!);
  expect(segments.length).toBeGreaterThan(20);
  expect(PAGES).toEqual(Array.from(new Set(segments)).toSorted());
});

test("a console whose files are missing answers 503, and serves them when they are there", async () => {
  const late = join(directory, "late");
  const options = { settings: readOptions(consoleOptions, {}), log: createLog("silent"), host: "127.0.0.1", port: 0 };
  const none = { agent: () => null, trace: () => null, control: () => null };
  const server = await startConsoleServer({ ...options, files: () => late, spaces: none, keysNeeded: false });
  try {
    expect((await fetch(server.url)).status).toBe(503);
    mkdirSync(late);
    writeFileSync(join(late, "index.html"), "<title>Heddle</title>");
    expect(await (await fetch(server.url)).text()).toBe("<title>Heddle</title>");
  } finally {
    await server.close();
  }
});

test("forwards a request to a space unchanged without the prefix, and its response unchanged", async () => {
  answer = (received, response) => {
    const { method, url: path, headers } = received;
    let body = "";
    received.on("data", (chunk: Buffer) => (body += chunk.toString()));
    received.on("end", () => {
      response.writeHead(201, { "set-cookie": ["a=1", "b=2"], "content-location": "/threads/x" });
      response.end(JSON.stringify({ method, path, body, headers }));
    });
  };
  const got = await fetch(`${url}/api/agent/threads/a%2Fb?x=1&x=2`, {
    method: "POST",
    body: "{}",
    headers: { "x-api-key": "k", origin: url },
  });
  const echo = (await got.json()) as { headers: Record<string, string> };
  expect([got.status, got.headers.getSetCookie()]).toEqual([201, ["a=1", "b=2"]]);
  expect(echo).toMatchObject({ method: "POST", path: "/threads/a%2Fb?x=1&x=2", body: "{}" });
  // the name known to the browser, or a session's cookie would count as cross-site
  expect(echo.headers).toMatchObject({ "x-api-key": "k", host: new URL(url).host, origin: url });
  const bare = (await (await fetch(`${url}/api/agent`)).json()) as { path: string };
  expect(bare.path).toBe("/");
});

test.each(["GET", "DELETE", "OPTIONS", "POST"])(
  "forwards the body of a %s as a body, and no trailers",
  async (method) => {
    const received: string[] = [];
    answer = (request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        received.push(`${request.method} ${request.url} ${request.headers["trailer"] ?? ""} ${body}`);
        response.end("ok");
      });
    };
    const inner = "POST /inner HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n";
    const head = `${method} /api/agent/outer HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTrailer: x-a\r\n`;
    const chunked = `Transfer-Encoding: chunked\r\n\r\n${inner.length.toString(16)}\r\n${inner}\r\n0\r\nx-a: b\r\n\r\n`;
    for (const rest of [chunked, `Content-Length: ${inner.length}\r\n\r\n${inner}`]) {
      const socket = connect(Number(new URL(url).port), "127.0.0.1");
      socket.write(head + rest);
      expect((await once(socket, "data"))[0].toString()).toMatch(/^HTTP\/1\.1 200 /);
      socket.destroy();
    }
    expect(received).toEqual([`${method} /outer  ${inner}`, `${method} /outer  ${inner}`]);
  },
);

test("forwards a stream chunk by chunk, closes it when the browser disconnects, and forwards upgrades", async () => {
  const closed = vi.fn<() => void>();
  answer = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("one\n");
    response.on("close", closed);
  };
  const hangup = new AbortController();
  const got = await fetch(`${url}/api/agent/stream`, { signal: hangup.signal });
  const first = await got.body!.getReader().read();
  expect(new TextDecoder().decode(first.value)).toBe("one\n");
  hangup.abort();
  await vi.waitFor(() => expect(closed).toHaveBeenCalled());

  const text = await new Promise<string>((resolve) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    let heard = "";
    socket.on("data", (chunk) => {
      heard += chunk.toString();
      if (heard.includes("/socket\n") && !heard.includes("ping")) socket.write("ping");
      if (heard.endsWith("ping")) socket.end();
    });
    socket.on("close", () => resolve(heard));
    socket.write(
      "GET /api/agent/socket HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
  });
  expect(text).toContain("101 Switching Protocols");
  expect(text).toMatch(/ping$/);
});

test("an absent or unreachable space, or an unfinished build of the console, responds with 502 or 503", async () => {
  const none = await fetch(`${url}/api/trace/api/v1/sessions`);
  expect([none.status, await none.json()]).toEqual([503, { detail: expect.stringContaining("trace platform") }]);
  agent = "http://127.0.0.1:1";
  const unreachable = await fetch(`${url}/api/agent/ok`);
  expect([unreachable.status, await unreachable.json()]).toEqual([
    502,
    { detail: expect.stringContaining("could not be reached") },
  ]);
  agent = behind;
  files = null;
  const building = await fetch(url);
  expect([building.status, building.headers.get("refresh")]).toEqual([503, "2"]);
  files = directory;
});

test("rejects unknown host names while no key is required", async () => {
  for (const host of ["evil.example", "evil.example:3000", "localhost.evil.example", "10.0.0.7"]) {
    expect([host, await askAs(host)]).toEqual([host, 403]);
    expect([host, await askAs(host, url, "/api/agent/info")]).toEqual([host, 403]);
  }
  for (const host of ["localhost:3000", "127.0.0.1", "[::1]:3000", "Console.Example:80"]) {
    expect([host, await askAs(host)]).toEqual([host, 200]);
  }
  const locked = await start(true);
  expect(await askAs("any.example", locked.url)).toBe(200);
  await locked.close();
});
