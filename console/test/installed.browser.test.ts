/**
 * The console below a path, behind a proxy; the first minute of a stranger there; as an installed app; and while its
 * server does not answer.
 */
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, request as ask, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { Client } from "@langchain/langgraph-sdk";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { openBrowser, openPage, until } from "./browser.ts";
import { type Platform, startPlatform } from "./platform.ts";

const BASE = "/tools/heddle";

let platform: Platform;
let browser: Browser;
let proxy: Server;
/** The console as readers reach it. */
let url: string;
/** Whether the proxy has a server behind it. */
let isUp = true;
/** Directory of the project that is served. */
let project: string;

const SOUND = 'return { messages: [new AIMessage("You said: " + messages.at(-1).content)] };';
const agent = (work: string) => `import { AIMessage } from "@langchain/core/messages";
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("answer", ({ messages }) => {
    ${work}
  })
  .addEdge("__start__", "answer").addEdge("answer", "__end__").compile();
`;
const save = (work: string) => writeFile(join(project, "agent.mjs"), agent(work));

beforeAll(async () => {
  let target = "";
  proxy = createServer((request, response) => {
    if (!isUp || !request.url!.startsWith(BASE)) return response.writeHead(isUp ? 404 : 502).end("Bad gateway");
    const sent = ask(target + request.url!, { method: request.method!, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    sent.on("error", () => response.destroy());
    response.on("close", () => sent.destroy());
    return request.pipe(sent);
  });
  await new Promise<void>((done) => proxy.listen(0, "127.0.0.1", done));
  url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${BASE}`;
  project = await mkdtemp(join(tmpdir(), "heddle-first-"));
  // where the project finds LangGraph without an installation
  await symlink(fileURLToPath(new URL("../../node_modules", import.meta.url)), join(project, "node_modules"));
  const config = join(project, "langgraph.json");
  await writeFile(config, JSON.stringify({ graphs: { agent: "./agent.mjs:graph" } }));
  await save(SOUND);
  const settings = { HEDDLE_CONSOLE_URL: url, HEDDLE_AUTH: "off" };
  platform = await startPlatform("dev", settings, config, { reloads: true });
  target = platform.url;
  browser = await openBrowser();
}, 240_000);
afterAll(async () => {
  await browser?.close();
  proxy?.closeAllConnections();
  proxy?.close();
  await platform?.stop();
  if (project) await rm(project, { recursive: true, force: true });
});

const goTo = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name, exact: true }).click();

test("a stranger talks to the agent, sees its trace, breaks and fixes it by the hints of the pages within 90 seconds", async () => {
  const { page, context, errors } = await openPage(browser);
  const client = new Client({ apiUrl: platform.agentUrl, apiKey: null });
  const steps = page.getByRole("region", { name: "First steps" });
  const done = (label: string) =>
    steps.getByRole("listitem").filter({ hasText: label }).getByLabel("Done", { exact: true }).waitFor();
  const say = async (text: string) => {
    await steps.getByRole("link", { name: "playground" }).click();
    await page.getByRole("textbox", { name: "Message" }).fill(text);
    await page.keyboard.press("Enter");
  };
  /** Saves the graph's file, as an editor does, and waits until it is in use. */
  const change = async (work: string, failed: boolean) => {
    await save(work);
    await until(async () => {
      const answer = (await client.runs.wait(null, "agent", {
        input: { messages: [{ role: "user", content: "?" }] },
        raiseError: false,
      })) as { __error__?: object };
      return (answer.__error__ !== undefined) === failed;
    });
  };
  const started = Date.now();
  await page.goto(`${url}/`);
  await steps.getByText("Send a message in the").waitFor();
  await say("hello");
  await page.getByText("You said: hello").first().waitFor();
  await goTo(page, "Overview");
  await done("Talk to the agent");
  await steps.getByRole("link", { name: "open the newest trace" }).click();
  await page.getByRole("treeitem", { name: /answer/ }).waitFor();
  await goTo(page, "Overview");
  await done("See its trace");
  await steps.getByText("Throw an error in a node of the graph").waitFor();
  await change('throw new Error("no such city");', true);
  await say("weather in Bonn");
  await page.getByText("no such city").first().waitFor();
  await goTo(page, "Overview");
  await done("Break the agent");
  await steps.getByRole("link", { name: "The failed trace" }).click();
  await page.getByText("no such city").first().waitFor();
  await page
    .getByText(/agent\.mjs/)
    .first()
    .waitFor();
  await goTo(page, "Overview");
  await change(SOUND, false);
  await say("again");
  await page.getByText("You said: again").first().waitFor();
  await goTo(page, "Overview");
  await done("Fix the agent");
  expect(Date.now() - started).toBeLessThan(90_000);
  // the client logs the error of a run that failed
  expect(errors.filter((text) => !text.includes("no such city"))).toEqual([]);
  await context.close();
});

test("works below a path: pages, a streamed chat, its trace, the documentation", async () => {
  const { page, context, errors } = await openPage(browser);
  const outside: string[] = [];
  page.on("request", (request) => request.url().startsWith(`${url}/`) || outside.push(request.url()));
  await page.goto(`${url}/`);
  await page.getByRole("article", { name: "This server" }).getByRole("link", { name: "Playground" }).click();
  await page.waitForURL(`${url}/a/local/playground**`);
  await page.getByRole("textbox", { name: "Message" }).fill("hello there");
  await page.keyboard.press("Enter");
  await page.getByText("You said: hello there").first().waitFor();
  await page.reload();
  await page.getByText("You said: hello there").first().waitFor();
  await until(async () => {
    const projects = (await (await fetch(`${platform.traceUrl}/api/v1/sessions`)).json()) as object[];
    return projects.length > 0;
  });
  await page
    .getByRole("link", { name: "Trace", exact: true })
    .or(page.getByRole("button", { name: "Trace", exact: true }))
    .click();
  await page.waitForURL(`${url}/projects/*/r/*`);
  await page.getByRole("treeitem", { name: /answer/ }).waitFor();
  await goTo(page, "Exports");
  await page.waitForURL(`${url}/exports`);
  await page.getByRole("button", { name: "Account and workspace" }).click();
  await page.getByRole("menuitem", { name: "Documentation" }).click();
  await page.getByRole("heading", { name: "Documentation", level: 1 }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("legal hold");
  await page.locator("#results").getByRole("link").first().click();
  await page.waitForURL(`${url}/docs/deletion#*`);
  await page.getByRole("link", { name: "Console", exact: true }).click();
  await page.getByRole("article", { name: "This server" }).waitFor();
  expect([...errors, ...outside]).toEqual([]);
  await context.close();
});

test("is installed as an app of its own path", async () => {
  const { page, context } = await openPage(browser);
  await page.goto(`${url}/`);
  const session = await context.newCDPSession(page);
  const { url: found, errors, data } = await session.send("Page.getAppManifest");
  expect([found, errors]).toEqual([`${url}/manifest.webmanifest`, []]);
  const { start_url, scope, icons } = JSON.parse(data!) as {
    start_url: string;
    scope: string;
    icons: { src: string }[];
  };
  const at = (path: string) => new URL(path, found).href;
  expect([at(start_url), at(scope)]).toEqual([`${url}/`, `${url}/`]);
  expect((await fetch(at(icons[0]!.src))).headers.get("content-type")).toBe("image/svg+xml");
  await context.close();
});

test("shows what it last had while the server does not answer, and continues when it does", async () => {
  const { page, context } = await openPage(browser, { isOfflineReady: true });
  await page.goto(`${url}/projects`);
  await page.locator("[data-row]").first().waitFor();
  const cells = () =>
    page.locator("[data-row] [role=cell]").evaluateAll((all) => all.slice(0, 5).map((it) => it.textContent));
  const before = await cells();
  // the files of the page and its data are kept
  const kept = () =>
    page.evaluate(async () => {
      const files = await (await caches.open("heddle-console")).keys();
      const [database] = await indexedDB.databases();
      return files.some(({ url }) => url.includes("/assets/index")) && database !== undefined;
    });
  await until(kept);
  await page.reload();
  await page.locator("[data-row]").first().waitFor();
  const saved = () =>
    page.evaluate(
      () =>
        new Promise<boolean>((resolve) => {
          const opening = indexedDB.open("heddle-console/tools/heddle");
          opening.onsuccess = () => {
            const reading = opening.result.transaction("data").objectStore("data").get("data");
            reading.onsuccess = () => {
              opening.result.close();
              resolve(JSON.stringify(reading.result ?? "").includes('"projects"'));
            };
          };
        }),
    );
  await until(saved);

  isUp = false;
  await page.reload();
  await page.locator("[data-row]").first().waitFor();
  expect(await cells()).toEqual(before);
  await page.getByText(/Server unreachable\. Reconnecting… Data from /).waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
  // without any network, too
  await context.setOffline(true);
  await page.goto(`${url}/projects`);
  await page.locator("[data-row]").first().waitFor();
  await page.getByText("Server unreachable.").waitFor();
  await context.setOffline(false);
  isUp = true;
  await page.getByText("Reconnected. The page is up to date.").waitFor();

  // nothing stays for the next reader of this browser, although the page still knows it
  await page.getByRole("button", { name: "Account and workspace" }).click();
  await page.getByRole("menuitem", { name: "Sign in or use a key" }).click();
  await page.getByText("Sign in to Heddle").waitFor();
  await until(async () => !(await saved()));
  await page.goto("about:blank");
  await page.goto(`${url}/sign-in`);
  expect(await saved()).toBe(false);
  await context.close();
});
