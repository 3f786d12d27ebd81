/** Assistants, crons, the store and webhooks, as the operator of an agent uses them. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { Client } from "@langchain/langgraph-sdk";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { openBrowser, openPage, until } from "./browser.ts";
import { type SharedPlatform, sharedPlatform } from "./shared-platform.ts";

let platform: SharedPlatform;
let browser: Browser;
let client: Client;
let receiver: Server;
let answer = 500;
const received: { id: string; body: Record<string, unknown> }[] = [];

beforeAll(async () => {
  receiver = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      received.push({
        id: String(request.headers["webhook-id"]),
        body: JSON.parse(text) as Record<string, unknown>,
      });
      response.writeHead(answer).end();
    });
  });
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
  platform = await sharedPlatform("open");
  browser = await openBrowser();
  client = new Client({ apiUrl: platform.agentUrl, apiKey: null });
}, 180_000);
afterAll(async () => {
  await browser?.close();
  receiver?.close();
});

const at = (path: string) => `${platform.url}/a/local${path}`;

test("the queue shows what threads wait for, until it comes", async () => {
  const { thread_id: threadId } = await client.threads.create();
  await client.runs.wait(threadId, "steps", { input: { log: [], patience: 3600 } });
  const { page, context, errors } = await openPage(browser);
  await page.goto(at("/queue"));
  const row = page
    .getByRole("region", { name: "Timers and signals" })
    .getByRole("row")
    .filter({ hasText: threadId.slice(-8) });
  await row.getByText("Signal paid, or timer, due").waitFor();
  expect(await row.innerText()).toContain("steps");
  await fetch(`${platform.agentUrl}/threads/${threadId}/signals/paid`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ payload: { amount: 1 } }),
  });
  await row.waitFor({ state: "hidden" });
  expect(errors).toEqual([]);
  await context.close();
});

test("creates an assistant, updates it, compares its versions, restores an older one and deletes it", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(at("/assistants"));
  await page.getByRole("button", { name: "New assistant" }).click();
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("Friendly");
  await page.getByRole("dialog").getByRole("combobox", { name: "Graph" }).fill("echo");
  await page.getByRole("option", { name: "echo", exact: true }).click();
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { name: "Friendly" }).waitFor();

  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Description").fill("Says hello");
  const config = page.getByRole("textbox", { name: "Config", exact: true });
  await config.fill('{"configurable": {"tone": "warm"}');
  await page.getByRole("button", { name: "Save as new version" }).click();
  await page.getByRole("alert").filter({ hasText: "Config is not valid JSON" }).waitFor();
  await config.fill('{"configurable": {"tone": "warm"}}');
  await page.getByRole("button", { name: "Save as new version" }).click();
  await page.getByText("Says hello").waitFor();

  await page.getByRole("tab", { name: "Versions" }).click();
  await page.getByLabel("Version 1: Friendly").check();
  await page.getByText("config.configurable").first().waitFor();
  expect(page.url()).toContain("tab=versions");
  await page.getByRole("button", { name: "Make active" }).click();
  await until(async () => {
    const [assistant] = await client.assistants.search({
      graphId: "echo",
      metadata: {},
      limit: 10,
      sortBy: "updated_at",
    });
    return assistant?.version === 1 && assistant.name === "Friendly";
  });
  // the difference between the versions still contains it
  await page.getByRole("paragraph").filter({ hasText: "Says hello" }).waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.waitForURL(/\/assistants$/);
  await page.getByRole("link", { name: "echo" }).first().waitFor();
  await page.getByRole("link", { name: "Friendly" }).waitFor({ state: "detached" });
  expect(errors).toEqual([]);
  await context.close();
});

test("shows a graph and its schemas", async () => {
  const { page, context, errors } = await openPage(browser);
  const [assistant] = await client.assistants.search({ graphId: "nested" });
  await page.goto(at(`/assistants/${assistant!.assistant_id}?tab=graph`));
  await page.locator(".react-flow__node").first().waitFor();
  await page.getByRole("tab", { name: "Schemas" }).click();
  await page.getByText("Input schema").waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("creates a cron with its next times in its zone, pauses, updates and deletes it", async () => {
  const { page, context, errors } = await openPage(browser);
  // other files use the same server
  const search = "**/runs/crons/search";
  await page.route(search, (route) => route.fulfill({ json: [] }));
  await page.goto(at("/crons"));
  await page.getByText("No crons yet").waitFor();
  await page.unroute(search);
  const own = async (schedule: string) => (await client.crons.search({})).find((cron) => cron.schedule === schedule);
  await page.getByRole("button", { name: "New cron" }).click();
  const schedule = page.getByLabel("Schedule");
  await schedule.fill("0 25 * * *");
  await page.getByRole("alert").filter({ hasText: /hour/i }).waitFor();
  await page.getByRole("button", { name: "Weekdays" }).click();
  expect(await schedule.inputValue()).toBe("0 9 * * 1-5");
  await schedule.fill("30 7 * * 1-5");
  await page.getByRole("combobox", { name: "Time zone" }).fill("Tokyo");
  await page.getByRole("option", { name: "Asia/Tokyo" }).click();
  expect(await page.getByRole("list", { name: "Next runs" }).getByText("07:30").count()).toBe(5);
  await page.getByRole("button", { name: "Create" }).click();
  await page.waitForURL(/cron=/);
  await page.getByRole("dialog", { name: "Cron", exact: true }).waitFor();
  const cron = await own("30 7 * * 1-5");
  expect((cron as unknown as { timezone: string }).timezone).toBe("Asia/Tokyo");

  await page
    .getByRole("dialog")
    .getByRole("switch", { name: /Enabled/ })
    .click({ force: true });
  await page.getByText("Paused: no runs start").waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Schedule").fill("*/5 * * * *");
  await page.getByRole("button", { name: "Save" }).click();
  await until(async () => (await own("*/5 * * * *"))?.cron_id === cron!.cron_id);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog", { name: "Delete this cron?" }).getByRole("button", { name: "Delete" }).click();
  await until(async () => (await own("*/5 * * * *")) === undefined);
  expect(errors).toEqual([]);
  await context.close();
});

test("starts a run of a cron now, and links to it", async () => {
  const thread = await client.threads.create();
  const cron = await client.crons.createForThread(thread.thread_id, "echo", { schedule: "0 0 1 1 *", input: {} });
  const id = (cron as unknown as { cron_id: string }).cron_id;
  const { page, context, errors } = await openPage(browser);
  await page.goto(at(`/crons?cron=${id}`));
  const dialog = page.getByRole("dialog", { name: "Cron", exact: true });
  await dialog.getByText("No runs yet.").waitFor();
  await dialog.getByRole("button", { name: "Run now" }).click();
  await page.getByText(/^Run .* started\. The schedule is unchanged\.$/).waitFor();
  await dialog.getByText("success").waitFor();
  await dialog.getByRole("link", { name: /^Run / }).click();
  const [run] = await client.runs.list(thread.thread_id);
  await page.waitForURL(new RegExp(`/threads/${thread.thread_id}/runs/${run!.run_id}$`));
  expect(errors).toEqual([]);
  await context.close();
});

test("browses the store by namespace, searches, updates and clears it", async () => {
  await client.store.putItem(["memories", "ada"], "tea", { kind: "drink", text: "likes green tea" });
  await client.store.putItem(["memories", "ada"], "cat", { kind: "pet", text: "has a cat" });
  await client.store.putItem(["memories", "bob"], "dog", { kind: "pet", text: "has a dog" });
  const { page, context, errors } = await openPage(browser);
  await page.goto(at("/store"));
  const tree = page.getByRole("navigation", { name: "Namespaces" });
  await tree.getByRole("button", { name: "Expand memories" }).click();
  await tree.getByRole("button", { name: "ada", exact: true }).click();
  await page.getByRole("link", { name: "tea" }).waitFor();
  await page.getByRole("link", { name: "dog" }).waitFor({ state: "detached" });
  await tree.getByRole("button", { name: "All namespaces" }).click();
  await page.getByLabel("Filter by value").fill('{"kind": "pet"}');
  await page.getByRole("link", { name: "tea" }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "dog" }).waitFor();
  await page.getByLabel("Filter by value").fill("");
  await page.getByLabel("Semantic search").fill("likes green tea");
  await page.getByText("Similarity").waitFor();
  await page.getByLabel("Semantic search").fill("");
  await page.getByText("Similarity").waitFor({ state: "detached" });

  await page.getByRole("link", { name: "dog" }).click();
  await page.getByRole("dialog", { name: "dog" }).getByText("has a dog").waitFor();
  await page.reload();
  await page.getByRole("dialog", { name: "dog" }).getByText("has a dog").waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Value", exact: true }).fill('{"kind": "pet", "text": "has two dogs"}');
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("has two dogs").first().waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog", { name: "Delete dog?" }).getByRole("button", { name: "Delete" }).click();
  await until(async () => (await client.store.getItem(["memories", "bob"], "dog").catch(() => null)) === null);

  await page.getByRole("button", { name: "New item" }).click();
  await page.getByRole("textbox", { name: "Namespace" }).fill("notes.team");
  await page.getByRole("textbox", { name: "Key", exact: true }).fill("plan");
  await page.getByRole("textbox", { name: "Value", exact: true }).fill('{"text": "ship it"}');
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog", { name: "plan" }).getByText("ship it").waitFor();
  expect((await client.store.getItem(["notes", "team"], "plan"))?.value).toEqual({ text: "ship it" });
  expect(errors).toEqual([]);
  await context.close();
});

test("shows a failing receiver with its response, retries it, and sends a delivery again", async () => {
  const { port } = receiver.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/hook`;
  const thread = await client.threads.create();
  await client.runs.wait(thread.thread_id, "echo", { input: { text: "x" }, webhook: url });
  const { page, context, errors } = await openPage(browser);
  await page.goto(at("/webhooks"));
  // the page says that the receiver fails, why, and how many messages wait
  const origin = `http://127.0.0.1:${port}`;
  const banner = page.getByRole("alert").filter({ hasText: origin });
  await banner.getByText(/status 500\. 1 message waits/).waitFor();
  await page.getByRole("link", { name: url }).click();
  const dialog = page.getByRole("dialog", { name: "Delivery" });
  await dialog.getByText("HTTP 500").first().waitFor();
  await page.keyboard.press("Escape");
  answer = 200;
  await banner.getByRole("button", { name: `Retry ${origin}` }).click();
  await banner.waitFor({ state: "hidden" });
  await page.getByRole("link", { name: url }).click();
  await dialog.getByText("delivered").first().waitFor({ timeout: 30_000 });
  const before = received.length;
  await dialog.getByRole("button", { name: "Resend" }).click();
  await until(() => received.length > before, { timeout: 15_000 });
  expect(new Set(received.map(({ id }) => id)).size).toBe(1);
  expect(received.at(-1)!.body).toMatchObject({ thread_id: thread.thread_id, status: "success" });
  expect(errors).toEqual([]);
  await context.close();
}, 60_000);
