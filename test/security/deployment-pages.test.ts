/**
 * A hostile deployment's page in the browser of a person signed in to the platform. The page is on the platform's host,
 * below /d/, and tries to act as that person on the control API.
 */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { readOptions } from "../../server/src/base/config/options.ts";
import { openSession } from "../../server/src/identity/sign-in/open-session.ts";
import { signInOptions } from "../../server/src/identity/sign-in/settings.ts";
import { serveDeployment, testControlPlane } from "../../server/test/control-plane.ts";
import { testDatabase } from "../../server/test/db.ts";
import { testGuard, testTenants } from "../../server/test/identity.ts";
import { testPerson } from "../../server/test/people.ts";

const PROGRAMS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium", "/usr/bin/google-chrome"];
const SLOW = 120_000;

const db = await testDatabase();
const { a, b } = await testTenants(db);
const guard = await testGuard(db);
const control = await testControlPlane({}, { db, guard });
const person = await testPerson(db, a, "anna", { organization: "ORGANIZATION_ADMIN", workspace: "WORKSPACE_ADMIN" });

const PAGE = `<!doctype html><meta charset="utf-8"><title>Evil</title><p id="ran">no</p>
<script>document.getElementById("ran").textContent = "yes"</script>`;
const requests: { url: string; headers: IncomingHttpHeaders }[] = [];
/** Server of another tenant than the person's. */
const evil = createServer((request, response) => {
  const { url = "", headers } = request;
  requests.push({ url, headers });
  const isData = url.startsWith("/data");
  response.setHeader(
    "content-type",
    isData ? "application/json" : url.endsWith(".svg") ? "image/svg+xml" : "text/html",
  );
  response.setHeader("access-control-allow-origin", "*");
  response.setHeader("set-cookie", ["heddle_session=planted; Path=/", "theme=dark; Path=/"]);
  response.setHeader("clear-site-data", '"cookies"');
  response.end(isData ? '{"data":true}' : PAGE);
});

let browser: Browser;
let context: BrowserContext;
let token: string;
let csrfToken: string | undefined;

beforeAll(async () => {
  evil.listen(0, "127.0.0.1");
  await once(evil, "listening");
  const { port } = evil.address() as AddressInfo;
  await serveDeployment(control, { name: "evil", port, workspaceId: b.workspaceId });
  const executablePath = PROGRAMS.find((path) => existsSync(path));
  if (!executablePath) throw new Error(`No Chromium: none of ${PROGRAMS.join(", ")}`);
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  const visitor = { ip: "127.0.0.1", userAgent: "test" };
  const user = { id: person.userId, method: "password" as const, visitor, isBrowser: true };
  ({ token, csrfToken } = await openSession(db.sql, readOptions(signInOptions, {}), user));
  context = await browser.newContext();
  const cookie = { name: "heddle_session", value: token, url: control.url, httpOnly: true, sameSite: "Lax" as const };
  await context.addCookies([cookie]);
}, SLOW);

afterAll(async () => {
  await browser?.close();
  evil.close();
}, SLOW);

const open = async (path: string): Promise<Page> => {
  const page = await context.newPage();
  await page.goto(control.url + path);
  return page;
};

/**
 * Tries to act on the control API in every way open to a page of the same origin, as if it knew the person's CSRF
 * token. Returns what the page could read.
 */
const act = (page: Page) =>
  page.evaluate(async (csrf) => {
    const read: string[] = [];
    const attempt = async (name: string, work: () => Promise<unknown>) => {
      try {
        read.push(`${name}: ${String(await work()).slice(0, 60)}`);
      } catch {
        // rejected, as expected
      }
    };
    const target = `${location.protocol}//${location.host}/v2/deployments`;
    const wish = { name: "planted", source: "internal_source", source_config: {}, source_revision_config: {} };
    const headers = { "content-type": "application/json", "x-heddle-csrf": csrf };
    const create = { method: "POST", headers, body: JSON.stringify(wish), credentials: "include" } as const;
    await attempt("GET", async () => (await fetch(target, { credentials: "include" })).text());
    await attempt("GET with the token", async () => (await fetch(target, { headers, credentials: "include" })).text());
    await attempt("POST", async () => (await fetch(target, create)).text());
    await attempt("XMLHttpRequest", async () => {
      const request = new XMLHttpRequest();
      request.open("GET", target, false);
      request.withCredentials = true;
      request.send();
      return request.responseText;
    });
    navigator.sendBeacon(target, JSON.stringify(wish));
    await attempt("cookies", async () => document.cookie);
    await attempt("storage", async () => localStorage.length);
    await attempt("worker", async () => navigator.serviceWorker.register(`${location.pathname}.js`));
    const waitForFrame = async (fill: (frame: HTMLIFrameElement) => void) => {
      const frame = document.createElement("iframe");
      fill(frame);
      document.body.append(frame);
      await new Promise((resolve) => setTimeout(resolve, 400));
      return frame.contentDocument!.body.textContent;
    };
    await attempt("frame", () => waitForFrame((frame) => (frame.src = target)));
    await attempt("sandboxed frame", () =>
      waitForFrame((frame) => {
        frame.setAttribute("sandbox", "allow-same-origin allow-scripts");
        frame.srcdoc =
          "<script>fetch('/v2/deployments').then(r=>r.text()).then(t=>document.body.textContent=t)</script>";
      }),
    );
    const popup = window.open(target);
    await new Promise((resolve) => setTimeout(resolve, 500));
    await attempt("popup", async () => popup!.document.body.textContent);
    return read;
  }, csrfToken!);

const deployments = () => db.sql<{ name: string }[]>`select name from deployments order by name`;

test.each(["/d/evil/", "/d/evil"])(
  "a deployment's page at %s can neither read nor change anything as the signed-in user",
  async (path) => {
    // counter-check: the same calls succeed as the person's own requests
    const headers = { "x-heddle-csrf": csrfToken! };
    const own = await context.request.get(`${control.url}/v2/deployments`, { headers });
    expect(own.status()).toBe(200);
    const page = await open(path);
    expect(await page.textContent("#ran")).toBe("yes");
    expect(await page.evaluate(() => self.origin)).toBe("null");
    expect(await act(page)).toEqual([]);
    expect(await deployments()).toEqual([{ name: "evil" }]);
    await page.close();
  },
  SLOW,
);

test(
  "an image of a deployment opened as a document has no origin",
  async () => {
    const page = await open("/d/evil/page.svg");
    expect(await page.evaluate(() => self.origin)).toBe("null");
    await page.close();
  },
  SLOW,
);

test(
  "a deployment neither sees nor replaces the session of a user who opens its page",
  async () => {
    requests.length = 0;
    await (await open("/d/evil/")).close();
    await (await open("/d/evil/again")).close();
    const cookies = requests.map(({ headers }) => headers.cookie);
    expect(cookies).toContain("theme=dark");
    expect(JSON.stringify(requests)).not.toContain("heddle_session");
    const remainingCookies = await context.cookies(`${control.url}/v2/deployments`);
    expect(remainingCookies.map(({ name, value }) => [name, value])).toEqual([["heddle_session", token]]);
  },
  SLOW,
);

test(
  "a session cookie sent to a deployment's own port grants it no access",
  async () => {
    requests.length = 0;
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}/lure`);
    const { cookie } = requests.find(({ url }) => url === "/lure")!.headers;
    expect(cookie).toContain(token);
    expect(await page.evaluate(() => localStorage.length)).toBe(0);
    await page.close();
    for (const headers of [
      { cookie: cookie! },
      { cookie: cookie!, "x-heddle-csrf": "1" },
      { authorization: `Bearer ${token}` },
      { "x-api-key": token },
    ]) {
      const response = await fetch(`${control.url}/v2/deployments`, { headers: new Headers(Object.entries(headers)) });
      expect(response.status).toBe(401);
    }
  },
  SLOW,
);

test("programs can still read a deployment's data", async () => {
  const response = await fetch(`${control.url}/d/evil/data`, { headers: { "x-api-key": b.admin } });
  expect([response.status, await response.json()]).toEqual([200, { data: true }]);
  expect(response.headers.get("content-security-policy")).toBeNull();
  expect(requests.at(-1)?.headers["x-api-key"]).toBe(b.admin);
});
