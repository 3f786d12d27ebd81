/**
 * A visitor's browser on pages of other origins, against `heddle dev` and `heddle up` in their default configuration:
 * no page may change or read anything on any port. Names of other sites resolve to this server, as in DNS rebinding.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { startPrinted } from "./printed-platform.ts";

const PROJECT = fileURLToPath(new URL("../../server/test/fixtures/agent-project/langgraph.json", import.meta.url));
const PROGRAMS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium", "/usr/bin/google-chrome"];
const SLOW = 240_000;

const dataDir = mkdtempSync(join(tmpdir(), "heddle-pages-"));
// Postgres does not run as root, and its user must reach its data
chmodSync(dataDir, 0o755);
const children: ChildProcess[] = [];
let browser: Browser;
let pages: Server;
/** Addresses that `heddle dev` and `heddle up` print for their parts. */
let at: Record<"agent" | "trace" | "control" | "console" | "upTrace" | "upConsole", string>;

async function start(command: "dev" | "up", args: string[]): Promise<(name: string) => string> {
  const env = { HOME: dataDir, HEDDLE_HOSTS: "1" };
  const { child, url } = await startPrinted([command, "--data-dir", join(dataDir, command), ...args], env);
  children.push(child);
  return url;
}

beforeAll(async () => {
  pages = createServer((_, response) =>
    response.setHeader("content-type", "text/html").end("<!doctype html><p>A page"),
  );
  pages.listen(0, "127.0.0.1");
  await once(pages, "listening");
  const dev = await start("dev", [
    "--config",
    PROJECT,
    "--port",
    "0",
    "--trace-port",
    "0",
    "--console-port",
    "0",
    "--no-reload",
  ]);
  const up = await start("up", ["--control-port", "0", "--trace-port", "0", "--console-port", "0"]);
  at = {
    agent: dev("API"),
    trace: dev("Traces"),
    console: dev("Console"),
    control: up("Control"),
    upTrace: up("Traces"),
    upConsole: up("Console"),
  };
  const executablePath = PROGRAMS.find((path) => existsSync(path));
  if (!executablePath) throw new Error(`No Chromium: none of ${PROGRAMS.join(", ")}`);
  browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--host-resolver-rules=MAP *.example 127.0.0.1"],
  });
}, SLOW);

afterAll(async () => {
  await browser?.close();
  for (const child of children) {
    child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "exit");
  }
  pages.close();
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
}, SLOW);

async function visit(host: string): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(`http://${host}:${(pages.address() as AddressInfo).port}/`);
  return page;
}

/** Sends the requests a page can send without a preflight, and returns what the page could read. */
const attack = (page: Page, url: string, path: string, body: string) =>
  page.evaluate(
    async ({ target, text }) => {
      const read: string[] = [];
      const tryRead = async (name: string, work: () => Promise<string>) => {
        try {
          read.push(`${name}: ${(await work()).slice(0, 80)}`);
        } catch {
          // blocked by the browser, as expected
        }
      };
      const soon = new Promise<void>((resolve) => setTimeout(resolve, 1500));
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
        const init = { method: "POST", mode: "no-cors", body: text, headers: { "content-type": type } } as const;
        await fetch(target, init).catch(() => {});
      }
      await fetch(target, { method: "POST", body: new Blob([text]), mode: "no-cors", credentials: "include" }).catch(
        () => {},
      );
      navigator.sendBeacon(target, text);
      await tryRead("cors POST", async () => (await fetch(target, { method: "POST", body: text })).text());
      const json = { method: "POST", body: text, headers: { "content-type": "application/json" } };
      await tryRead("preflighted POST", async () => (await fetch(target, json)).text());
      await tryRead("cors GET", async () => (await fetch(target)).text());
      await tryRead("DELETE", async () => (await fetch(target, { method: "DELETE" })).text());
      const form = document.createElement("form");
      const frame = Object.assign(document.createElement("iframe"), { name: "sink" });
      Object.assign(form, { action: target, method: "post", enctype: "text/plain", target: "sink" });
      const field = Object.assign(document.createElement("input"), { name: text.slice(0, -1), value: "}" });
      form.append(field);
      document.body.append(frame, form);
      form.submit();
      document.body.append(Object.assign(document.createElement("script"), { src: target }));
      document.body.append(Object.assign(document.createElement("img"), { src: target }));
      await tryRead("server-sent events", async () => {
        const source = new EventSource(target);
        return await new Promise((resolve, reject) => {
          source.addEventListener("open", () => resolve("open"));
          source.addEventListener("error", () => reject(new Error("rejected")));
        });
      });
      await tryRead("WebSocket", async () => {
        const socket = new WebSocket(target.replace("http", "ws"));
        return await new Promise((resolve, reject) => {
          socket.addEventListener("open", () => resolve("open"));
          socket.addEventListener("error", () => reject(new Error("rejected")));
        });
      });
      await soon;
      return read;
    },
    { target: url + path, text: body },
  );

const DEPLOYMENT = JSON.stringify({
  name: "evil",
  source: "internal_docker",
  source_config: {},
  source_revision_config: {},
});

const count = async (url: string, path: string, body?: object): Promise<number> => {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url + path, body ? { method: "POST", headers, body: JSON.stringify(body) } : {});
  const found = (await response.json()) as unknown[] | { resources: unknown[] };
  return (Array.isArray(found) ? found : found.resources).length;
};

test(
  "a foreign page can neither change nor read anything on any port",
  async () => {
    const page = await visit("evil.example");
    const targets = [
      ["agent server", at.agent, "/threads", "{}"],
      ["trace platform", at.trace, "/api/v1/sessions", '{"name":"evil"}'],
      ["control plane", at.control, "/v2/deployments", DEPLOYMENT],
      ["trace platform of up", at.upTrace, "/api/v1/sessions", '{"name":"evil"}'],
      ["console of dev", at.console, "/api/agent/threads", "{}"],
      ["console of up", at.upConsole, "/api/control/v2/deployments", DEPLOYMENT],
      ["metrics", at.agent, "/metrics", ""],
      ["description", at.control, "/openapi.json", ""],
    ] as const;
    const before = await count(at.trace, "/api/v1/sessions");
    for (const [name, url, path, body] of targets)
      expect([name, await attack(page, url, path, body)]).toEqual([name, []]);
    expect(await count(at.agent, "/threads/search", {})).toBe(0);
    expect(await count(at.control, "/v2/deployments")).toBe(0);
    expect(await count(at.trace, "/api/v1/sessions")).toBe(before);
    await page.close();
  },
  SLOW,
);

test(
  "a page of another local port can use the agent server, but neither traces nor deployments",
  async () => {
    const page = await visit("localhost");
    const read = await attack(page, at.agent, "/threads", "{}");
    expect(read.map((line) => line.split(":")[0])).toEqual(expect.arrayContaining(["cors POST", "preflighted POST"]));
    expect(await attack(page, at.trace, "/api/v1/sessions", '{"name":"evil"}')).toEqual([]);
    expect(await attack(page, at.control, "/v2/deployments", DEPLOYMENT)).toEqual([]);
    expect(await count(at.control, "/v2/deployments")).toBe(0);
    await page.close();
  },
  SLOW,
);

test(
  "rejects DNS rebinding",
  async () => {
    const page = await browser.newPage();
    for (const [name, url] of Object.entries(at)) {
      const answer = await page.goto(`http://rebind.example:${new URL(url).port}/docs`);
      expect([name, answer?.status(), await page.textContent("body")]).toEqual([
        name,
        403,
        expect.stringContaining("HEDDLE_ALLOWED_HOSTS"),
      ]);
    }
    await page.close();
  },
  SLOW,
);

test("a rejection names the setting to change", async () => {
  const headers = { origin: "https://front-end.example", "content-type": "application/json" };
  const rejected = await fetch(`${at.agent}/threads`, { method: "POST", headers, body: "{}" });
  expect([rejected.status, await rejected.text()]).toEqual([
    403,
    expect.stringMatching(/https:\/\/front-end\.example .*HEDDLE_CORS_ORIGINS.*http\.cors/),
  ]);
});
