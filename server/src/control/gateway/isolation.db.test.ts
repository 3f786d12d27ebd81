/** Isolation between a deployment and the platform on the same host, against a hostile deployment. */
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";

import { afterAll, expect, test } from "vitest";

import { serveDeployment, type TestControlPlane, testControlPlane } from "../../../test/control-plane.ts";
import { testDatabase } from "../../../test/db.ts";
import { testGuard, testTenants } from "../../../test/identity.ts";
import { newSessionToken } from "../../identity/sign-in/session-token.ts";

const db = await testDatabase();
const { a, b, unknown } = await testTenants(db);
const guard = await testGuard(db);
const here = await testControlPlane({}, { db, guard });
const domainEnv = { HEDDLE_GATEWAY_DOMAIN: "agents.example", HEDDLE_CONTROL_PUBLIC_URL: "https://control.example" };

let receivedHeaders: Record<string, string | string[] | undefined> = {};
let answer = (_: IncomingMessage, response: ServerResponse): void => void response.end("ok");
const upstream = createServer((received, response) => {
  receivedHeaders = received.headers;
  answer(received, response);
});
upstream.on("upgrade", (received, socket) => {
  receivedHeaders = received.headers;
  socket.on("error", () => {});
  socket.end(
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
      'Set-Cookie: heddle_session=planted; Path=/\r\nSet-Cookie: own=1; Path=/\r\nClear-Site-Data: "*"\r\n\r\n',
  );
});
upstream.listen(0, "127.0.0.1");
await once(upstream, "listening");
afterAll(() => upstream.close());

const serving = (where: TestControlPlane, workspaceId: string): Promise<void> =>
  serveDeployment(where, { name: "evil", port: (upstream.address() as AddressInfo).port, workspaceId });
await serving(here, a.workspaceId);

interface Got {
  status: number;
  headers: IncomingMessage["headers"];
  policies: string[];
  body: string;
}

/** Sends a request with separate headers that `fetch` would join, and any host. */
function ask(where: TestControlPlane, path: string, headers: Record<string, string | string[]> = {}): Promise<Got> {
  const { port } = new URL(where.url);
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, headers }, (response) => {
      let body = "";
      response.on("data", (chunk: Buffer) => (body += chunk.toString()));
      response.on("end", () => {
        const { rawHeaders: raw } = response;
        const policies = raw.filter(
          (_, at) => at % 2 === 1 && raw[at - 1]!.toLowerCase() === "content-security-policy",
        );
        resolve({ status: response.statusCode!, headers: response.headers, policies, body });
      });
    });
    sent.on("error", reject);
    sent.end();
  });
}

const upgrade = async (headers: string): Promise<string> => {
  const socket = connect(Number(new URL(here.url).port), "127.0.0.1");
  let text = "";
  socket.on("data", (chunk) => (text += chunk.toString()));
  socket.write(
    `GET /d/evil/socket HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${headers}\r\n`,
  );
  await once(socket, "close");
  return text;
};

const CREDENTIALS =
  "heddle_session=s; theme=dark; __Host-heddle_session=s; heddle_oidc=f; __Host-heddle_oidc=f; my_heddle_session=x";

test("the gateway removes the platform's cookies and forwards a deployment's own", async () => {
  receivedHeaders = {};
  await ask(here, "/d/evil/x", { cookie: CREDENTIALS });
  expect(receivedHeaders["cookie"]).toBe("theme=dark; my_heddle_session=x");
  await ask(here, "/d/evil/x", { cookie: "heddle_session=s" });
  expect(receivedHeaders).not.toHaveProperty("cookie");
  await ask(here, "/d/evil/x", { cookie: ["a=1", "heddle_session=s", "b=2"] });
  expect(receivedHeaders["cookie"]).toBe("a=1; b=2");
  await upgrade(`Cookie: ${CREDENTIALS}\r\n`);
  expect(receivedHeaders["cookie"]).toBe("theme=dark; my_heddle_session=x");
});

test("a key is forwarded only to deployments of a workspace that may see it", async () => {
  const passed = async (headers: Record<string, string>) => {
    receivedHeaders = {};
    await ask(here, "/d/evil/x", headers);
    return [receivedHeaders["x-api-key"], receivedHeaders["authorization"]];
  };
  for (const key of [a.admin, a.viewer, a.readOnly, a.org, unknown, "somebody-elses"]) {
    expect(await passed({ "x-api-key": key })).toEqual([key, undefined]);
    expect(await passed({ authorization: `Bearer ${key}` })).toEqual([undefined, `Bearer ${key}`]);
  }
  for (const key of [b.admin, b.viewer, b.org, newSessionToken()]) {
    expect(await passed({ "x-api-key": key })).toEqual([undefined, undefined]);
    expect(await passed({ authorization: `Bearer ${key}` })).toEqual([undefined, undefined]);
    expect(await passed({ "x-api-key": `x, ${key}` })).toEqual([undefined, undefined]);
    expect(await passed({ "x-api-key": a.admin, authorization: `bearer   ${key}` })).toEqual([a.admin, undefined]);
  }
  expect(await passed({ authorization: "Basic dXNlcjpwYXNz" })).toEqual([undefined, "Basic dXNlcjpwYXNz"]);
  // a header that names another workspace does not let its key pass
  expect(await passed({ "x-api-key": b.admin, "x-tenant-id": b.workspaceId })).toEqual([undefined, undefined]);
  await upgrade(`x-api-key: ${b.admin}\r\n`);
  expect(receivedHeaders).not.toHaveProperty("x-api-key");
  await upgrade(`x-api-key: ${a.admin}\r\n`);
  expect(receivedHeaders["x-api-key"]).toBe(a.admin);
});

test("credentials in the query or in any header follow the same rule", async () => {
  const [mine, foreign] = [a.admin, newSessionToken()];
  const paths: (string | undefined)[] = [];
  answer = (request, response) => {
    paths.push(request.url);
    response.end();
  };
  await ask(here, `/d/evil/x?x-api-key=${foreign}&a=1&b=%20`);
  await ask(here, `/d/evil/x?x-api-key=${b.admin}`);
  await ask(here, `/d/evil/x?k=${foreign.replaceAll(/./g, (c) => `%${c.charCodeAt(0).toString(16)}`)}&a=1`);
  await ask(here, `/d/evil/x?x-api-key=${mine}`);
  expect(paths).toEqual(["/x?a=1&b=%20", "/x", "/x?a=1", `/x?x-api-key=${mine}`]);
  receivedHeaders = {};
  await ask(here, "/d/evil/x", { "x-own": `token ${foreign}`, cookie: `own=${foreign}`, "x-other": "1" });
  expect(receivedHeaders).not.toHaveProperty("x-own");
  expect(receivedHeaders).not.toHaveProperty("cookie");
  expect(receivedHeaders["x-other"]).toBe("1");
});

test("below a path, removes challenges for passwords and session registration", async () => {
  const challenge = async (value: string) => {
    answer = (_, response) =>
      void response.writeHead(401, { "WWW-Authenticate": value, "Secure-Session-Registration": "(ES256)" }).end();
    const { headers } = await ask(here, "/d/evil/x");
    expect(headers).not.toHaveProperty("secure-session-registration");
    return headers["www-authenticate"];
  };
  for (const value of ["Basic realm=x", "Negotiate", "NTLM", "Digest realm=x"])
    expect(await challenge(value)).toBeUndefined();
  expect(await challenge('Bearer realm="mcp"')).toBe('Bearer realm="mcp"');
});

test("below a path, limits a deployment's cookies to its own path", async () => {
  const set = async (...cookies: string[]) => {
    answer = (_, response) => void response.writeHead(200, { "set-cookie": cookies }).end();
    return (await ask(here, "/d/evil/a/b?c=/d")).headers["set-cookie"];
  };
  const planted = ["heddle_session=x; Path=/d/evil", "__Host-heddle_session=x; Secure; Path=/", " heddle_oidc = x"];
  expect(await set(...planted, "=heddle_session=x", "heddle_session", "__Host-heddle_oidc=x")).toBeUndefined();
  expect(await set("own=1", "HttpOnly=1; Secure; SameSite=Lax")).toEqual(["own=1", "HttpOnly=1; Secure; SameSite=Lax"]);
  expect(await set("own=1; Path=/; HttpOnly; Domain=localhost")).toEqual(["own=1; HttpOnly; Path=/d/evil"]);
  expect(await set("own=1; path=/d/evil/x; Path=/v2")).toEqual(["own=1; Path=/d/evil/v2"]);
  expect(await set("own=1; Path=/d/evil/x; Max-Age=3")).toEqual(["own=1; Max-Age=3; Path=/d/evil/x"]);
  expect(await set("own=1; Path=/d/evilother")).toEqual(["own=1; Path=/d/evil/d/evilother"]);
  answer = (_, response) => void response.writeHead(200, { "set-cookie": "own=1" }).end();
  expect((await ask(here, "/d/evil")).headers["set-cookie"]).toEqual(["own=1; Path=/d/evil"]);
  const text = await upgrade("");
  expect(text).toContain("101 Switching Protocols");
  expect(text.match(/set-cookie.*/gi)).toEqual(["Set-Cookie: own=1; Path=/d/evil"]);
  expect(text).not.toMatch(/clear-site-data/i);
});

test("below a path, serves documents in a sandbox without an origin", async () => {
  const sandbox = expect.stringMatching(/^sandbox (?!.*allow-same-origin)(?=.*allow-scripts)/);
  const show = (headers: Record<string, string | string[]>) => {
    answer = (_, response) => void response.writeHead(200, headers).end("x");
    return ask(here, "/d/evil/page");
  };
  for (const type of [
    "text/html",
    "image/svg+xml",
    "application/xhtml+xml",
    "text/xml; charset=x",
    "application/pdf",
  ]) {
    expect(await show({ "content-type": type })).toMatchObject({
      policies: [sandbox],
      headers: { "x-content-type-options": "nosniff" },
    });
  }
  expect((await show({})).policies).toEqual([sandbox]);
  // of several types browsers use the last
  expect((await show({ "content-type": ["application/json", "text/html"] })).policies).toEqual([sandbox]);
  expect((await show({ "content-type": "application/json, text/html" })).policies).toEqual([sandbox]);
  const own = "default-src 'self'; sandbox allow-same-origin allow-scripts";
  const merged = await show({
    "content-type": "text/html",
    "content-security-policy": own,
    "x-content-type-options": "x",
  });
  expect(merged).toMatchObject({ policies: [own, sandbox], headers: { "x-content-type-options": "nosniff" } });

  for (const type of ["application/json", "application/problem+json; charset=utf-8", "text/event-stream"]) {
    const data = await show({ "content-type": type, "mcp-session-id": "m", "content-disposition": "attachment" });
    expect(data).toMatchObject({
      policies: [],
      headers: { "content-type": type, "x-content-type-options": "nosniff", "mcp-session-id": "m" },
      body: "x",
    });
  }
});

test("below a path, removes headers that affect the whole origin", async () => {
  const whole = {
    "service-worker-allowed": "/",
    "clear-site-data": '"*"',
    "strict-transport-security": "max-age=1",
    "alt-svc": 'h2=":1"',
    nel: "{}",
    "report-to": "{}",
    "cross-origin-opener-policy": "same-origin",
  };
  answer = (_, response) => void response.writeHead(200, { ...whole, "x-own": "1" }).end();
  const { headers } = await ask(here, "/d/evil/page");
  expect(headers).toMatchObject({ "x-own": "1" });
  for (const name of Object.keys(whole)) expect(headers).not.toHaveProperty(name);
  const worker = await ask(here, "/d/evil/worker.js", { "service-worker": "script" });
  expect(worker.status).toBe(403);
});

test("a deployment with its own host has an origin, and its cookies reach no other host", async () => {
  const hosts = await testControlPlane(domainEnv);
  await serving(hosts, a.workspaceId);
  const host = "evil.agents.example";
  const cookies = [
    "heddle_session=x; Domain=example",
    "__Host-heddle_session=x; Secure; Path=/",
    "wide=1; Domain=.agents.example; Path=/",
    "control=1; Domain=control.example",
    "own=1; Domain=evil.agents.example; Path=/v2",
  ];
  answer = (_, response) =>
    void response
      .writeHead(200, {
        "content-type": "text/html",
        "set-cookie": cookies,
        "clear-site-data": '"cache", "cookies", "storage"',
        "service-worker-allowed": "/",
      })
      .end("page");
  const { headers, policies, body } = await ask(hosts, "/", { host, cookie: CREDENTIALS });
  expect(receivedHeaders["cookie"]).toBe("theme=dark; my_heddle_session=x");
  expect([policies, body]).toEqual([[], "page"]);
  expect(headers["set-cookie"]).toEqual(["wide=1; Path=/", "control=1", "own=1; Domain=evil.agents.example; Path=/v2"]);
  expect(headers).toMatchObject({ "clear-site-data": '"cache", "storage"', "service-worker-allowed": "/" });
  answer = (_, response) => void response.writeHead(200, { "clear-site-data": '"*"' }).end();
  expect((await ask(hosts, "/", { host })).headers["clear-site-data"]).not.toMatch(/cookies|\*/);
  // the same deployment, reached by its path, is on the platform's origin
  answer = (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end();
  expect((await ask(hosts, "/d/evil/", { host: "control.example" })).policies).toHaveLength(1);
  await hosts.stop();
});

test("a platform without keys forwards none of its valid keys to deployments", async () => {
  const db = await testDatabase();
  const tenants = await testTenants(db);
  const plain = await testControlPlane(
    {},
    { db, guard: await testGuard(db, { HEDDLE_AUTH: "off" }), keysNeeded: false },
  );
  await serving(plain, tenants.a.workspaceId);
  for (const key of [tenants.a.admin, tenants.b.admin, newSessionToken()]) {
    receivedHeaders = {};
    await ask(plain, "/d/evil/x", { "x-api-key": key });
    expect(receivedHeaders).toHaveProperty("host");
    expect(receivedHeaders).not.toHaveProperty("x-api-key");
  }
  await ask(plain, "/d/evil/x", { "x-api-key": tenants.unknown });
  expect(receivedHeaders["x-api-key"]).toBe(tenants.unknown);
  await plain.stop();
});
