/** The console below a path, in the frame of another page, and without its server. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { readOptions } from "../../server/src/base/config/options.ts";
import type { HttpServer } from "../../server/src/base/http/http-server.ts";
import { createLog } from "../../server/src/base/log.ts";
import { startConsoleServer } from "../../server/src/console/console-server.ts";
import { consoleOptions } from "../../server/src/console/settings.ts";
import { openBrowser, openPage, until } from "./browser.ts";
import { keptResults } from "./kept-results.ts";
import { sharedTraces, type SharedPlatform, sharedPlatform } from "./shared-platform.ts";

// built by the platform's start
const FILES = fileURLToPath(new URL("../dist", import.meta.url));
const open = new Set<{ close(): unknown }>();

let platform: SharedPlatform;
let browser: Browser;
beforeAll(async () => {
  platform = await sharedPlatform("open");
  browser = await openBrowser();
}, 240_000);
afterAll(async () => {
  await browser?.close();
  for (const server of open) await server.close();
});

async function startConsole(env: Record<string, string>, port = 0): Promise<HttpServer> {
  const server = await startConsoleServer({
    settings: readOptions(consoleOptions, env),
    log: createLog("silent"),
    host: "127.0.0.1",
    port,
    files: () => FILES,
    spaces: { agent: () => platform.agentUrl, trace: () => platform.traceUrl, control: () => null },
    keysNeeded: false,
  });
  open.add(server);
  return server;
}

async function chat(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
  await page
    .getByRole("article")
    .filter({ hasText: `You said: ${text}` })
    .first()
    .waitFor();
}

test("below a path, pages, streams, links, files and documentation work", async () => {
  const { projectId, agentRunId } = await sharedTraces(platform);
  const { url } = await startConsole({ HEDDLE_CONSOLE_URL: "https://intranet.example/tools/heddle" });
  const { page, context, errors } = await openPage(browser);
  const outside: string[] = [];
  page.on("request", (request) => {
    const { origin, pathname } = new URL(request.url());
    if (origin === url && !pathname.startsWith("/tools/heddle")) outside.push(pathname);
  });
  await page.goto(`${url}/tools/heddle`);
  await page.getByRole("article", { name: "This server" }).getByRole("link", { name: "Playground" }).click();
  await page.waitForURL(`${url}/tools/heddle/a/local/playground**`);
  await chat(page, "below a path");
  await page.reload();
  await page.getByText("You said: below a path").first().waitFor();
  // deep links, lazy parts, fonts and attachments
  await page.goto(`${url}/tools/heddle/projects/${projectId}/r/${agentRunId}`);
  await page.getByRole("article", { name: "Run shoe agent" }).waitFor();
  await page.getByRole("button", { name: /^Share/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: /link/i }).first().click();
  const link = await page.getByRole("textbox", { name: /link/i }).inputValue();
  expect(link).toMatch(`${url}/tools/heddle/public/`);
  await page.goto(link);
  await page.getByText("shoe agent").first().waitFor();
  await page.goto(`${url}/tools/heddle/docs/`);
  await page.locator("#search").fill("retention");
  await page.locator("#results a").first().click();
  await page.waitForURL(`${url}/tools/heddle/docs/**`);
  expect(await page.evaluate(() => document.styleSheets.length)).toBeGreaterThan(0);
  // it is installed as an app of its own path
  await page.goto(`${url}/tools/heddle/`);
  const session = await context.newCDPSession(page);
  const manifest = await session.send("Page.getAppManifest");
  expect([manifest.url, manifest.errors]).toEqual([`${url}/tools/heddle/app.webmanifest`, []]);
  const { start_url, scope, icons } = JSON.parse(manifest.data!) as Record<string, string> & {
    icons: { src: string }[];
  };
  const at = (path: string) => new URL(path, manifest.url).href;
  expect([at(start_url!), at(scope!)]).toEqual([`${url}/tools/heddle/`, `${url}/tools/heddle/`]);
  for (const { src } of icons) expect((await fetch(at(src))).headers.get("content-type")).toMatch(/^image\//);
  expect(outside).toEqual([]);
  expect(errors).toEqual([]);
  await context.close();
});

test("another page shows the console in a frame only where its origin is allowed, and without navigation if asked", async () => {
  const host: Server = createServer((request, response) => {
    const target = decodeURIComponent(request.url!.slice(1));
    response.writeHead(200, { "content-type": "text/html" }).end(`<iframe src="${target}" width="900" height="700">`);
  });
  await new Promise<void>((done) => host.listen(0, "127.0.0.1", done));
  open.add(host);
  const origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  const { url } = await startConsole({ HEDDLE_CONSOLE_EMBED_ORIGINS: origin });
  const { page, context } = await openPage(browser);
  await page.goto(`${origin}/${encodeURIComponent(`${url}/a/local/playground?embed&assistant=agent`)}`);
  const frame = page.frameLocator("iframe");
  await frame.getByRole("textbox", { name: "Message" }).fill("in a frame");
  await frame.getByRole("textbox", { name: "Message" }).press("Enter");
  await frame.getByRole("article").filter({ hasText: "You said: in a frame" }).first().waitFor();
  expect(await frame.getByRole("navigation").count()).toBe(0);
  // the platform's own console allows no origin
  const refused = page.waitForEvent("console", (message) => /frame-ancestors|X-Frame-Options/i.test(message.text()));
  await page.goto(`${origin}/${encodeURIComponent(platform.url)}`);
  await refused;
  expect(await frame.getByRole("navigation").count()).toBe(0);
  await context.close();
});

test("without its server the console shows its last data and says so, and continues when the server is back", async () => {
  const { projectId, agentRunId } = await sharedTraces(platform);
  const first = await startConsole({});
  const { url } = first;
  const { page, context } = await openPage(browser, { hasWorker: true });
  const trace = `${url}/projects/${projectId}/r/${agentRunId}`;
  await page.goto(trace);
  await page.getByRole("article", { name: "Run shoe agent" }).waitFor();
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
  await page.getByText("two pairs").first().waitFor();
  await page.evaluate(() => {
    Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  const isKept = async (text: string) => (await keptResults(page)).includes(text);
  await until(() => isKept("two pairs"));
  // all files of the page, although they were loaded before the worker was there
  await until(() =>
    page.evaluate(async () => {
      const kept = new Set((await (await caches.open("heddle.files")).keys()).map(({ url }) => url));
      const loaded = performance.getEntriesByType("resource").map(({ name }) => name);
      return loaded.filter((name) => name.includes("/assets/")).every((name) => kept.has(name));
    }),
  );

  await first.close();
  open.delete(first);
  await page.reload();
  await page.getByText("two pairs").first().waitFor();
  await page.getByText(/Server unreachable/).waitFor();
  expect(await page.locator("html").getAttribute("data-offline")).toBe("");
  await startConsole({}, Number(new URL(url).port));
  await page.getByText(/Server unreachable/).waitFor({ state: "detached" });
  await context.close();
});

test("a file that cannot be loaded reloads a page only if the server has replaced it, not if it is unreachable", async () => {
  const { url } = await startConsole({});
  const { page, context } = await openPage(browser);
  let opened = 0;
  page.on("domcontentloaded", () => (opened += 1));
  await page.goto(`${url}/a/local/playground?assistant=agent`);
  await chat(page, "before the loss");
  await until(() =>
    page.evaluate(() => performance.getEntriesByType("resource").some((it) => it.name.includes("/notices-"))),
  );
  await context.setOffline(true);
  await page.keyboard.press("Control+k");
  await page.getByRole("alert").filter({ hasText: "Could not open the search" }).waitFor();
  await page.getByText("You said: before the loss").waitFor();
  await context.setOffline(false);
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("combobox").waitFor();
  expect(opened).toBe(1);
  await page.keyboard.press("Escape");
  // a file of the next build is not the one that this page knows
  await page.route("**/assets/setup-panel-*.js", (route) => route.fulfill({ status: 404 }));
  await page.getByRole("tab", { name: "Setup" }).click();
  await until(() => opened === 2);
  await context.close();
});
