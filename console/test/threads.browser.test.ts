import { Client } from "@langchain/langgraph-sdk";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { openBrowser, openPage, until } from "./browser.ts";
import { type SharedPlatform, sharedPlatform } from "./shared-platform.ts";

let platform: SharedPlatform;
let browser: Browser;
let client: Client;
beforeAll(async () => {
  platform = await sharedPlatform("open");
  browser = await openBrowser();
  client = new Client({ apiUrl: platform.agentUrl, apiKey: null });
  await until(async () => (await client.assistants.search()).length > 8);
}, 180_000);
afterAll(async () => {
  await browser?.close();
});

const at = (path: string) => `${platform.url}/a/local/${path}`;
const sendMessage = (content: string) => ({ input: { messages: [{ role: "user", content }] } });

async function createConversation(text: string, metadata: Record<string, unknown> = {}): Promise<string> {
  const { thread_id: id } = await client.threads.create({ metadata });
  await client.runs.wait(id, "agent", sendMessage(text));
  return id;
}

async function createInterrupted(metadata: Record<string, unknown> = {}): Promise<string> {
  const { thread_id: id } = await client.threads.create({ metadata });
  await client.runs.wait(id, "approval", { input: { topic: `topic ${id.slice(-4)}` } });
  return id;
}

test("lists threads with counts, and filters them by status, metadata and id in the address", async () => {
  // other tests create threads too, and a retry creates these again
  const batch = crypto.randomUUID();
  const [ada, bob, waits] = await Promise.all([
    createConversation("hello", { batch, user: "ada" }),
    createConversation("hi", { batch, user: "bob" }),
    createInterrupted({ batch }),
  ]);
  const { page, context, errors } = await openPage(browser);
  await page.goto(at(`threads?meta=batch%3D${batch}`));
  const row = (id: string) => page.getByRole("row").filter({ hasText: id.slice(-8) });
  await Promise.all([ada, bob, waits].map((id) => row(id).waitFor()));
  // contents are loud, ids are quiet
  const sizes = await Promise.all(
    [row(ada).getByRole("link", { name: "You said: hello" }), row(ada).getByTitle(ada)].map((text) =>
      text.evaluate((element) => Number.parseFloat(getComputedStyle(element).fontSize)),
    ),
  );
  expect(sizes[0]).toBeGreaterThan(sizes[1]!);

  await page.getByRole("group", { name: "Status" }).getByText("interrupted").click();
  await row(ada).waitFor({ state: "hidden" });
  await row(waits).waitFor();
  await page.getByRole("radio", { name: /^Interrupted 1$/ }).waitFor({ state: "attached" });
  expect(page.url()).toContain("status=interrupted");

  await page.goto(at("threads"));
  await page.getByLabel("Metadata").fill("user=ada");
  await row(bob).waitFor({ state: "hidden" });
  await row(ada).waitFor();
  await page.waitForURL(/meta=user/);
  await page.reload();
  await row(ada).waitFor();
  expect(await row(bob).count()).toBe(0);

  await page.goto(at(`threads?id=${bob}`));
  await row(bob).waitFor();
  expect(await row(ada).count()).toBe(0);
  await page.goto(at("threads?meta=user%3Dnobody"));
  await page.getByText("No matching threads").waitFor();
  await page.getByRole("link", { name: "Show all threads" }).click();
  // a thread that is started elsewhere appears without a reload
  const late = await createConversation("late");
  await row(late).getByRole("link").click();
  await page.waitForURL(new RegExp(late));
  expect(errors).toEqual([]);
  await context.close();
});

test("lists threads of one assistant, in another order, page by page", async () => {
  const ids: string[] = [];
  const batch = `paged ${crypto.randomUUID()}`;
  for (let at = 0; at < 27; at++) {
    const { thread_id: id } = await client.threads.create({ metadata: { batch }, graphId: "counter" });
    ids.push(id);
  }
  const { page, context, errors } = await openPage(browser);
  await page.goto(at(`threads?meta=${encodeURIComponent(`batch=${batch}`)}`));
  const links = page.getByRole("table", { name: "Threads" }).getByRole("link");
  const first = (id: string) => until(async () => (await links.first().getAttribute("href"))!.endsWith(id));
  await first(ids.at(-1)!);
  await page.getByRole("combobox", { name: "Sort by" }).click();
  await page.getByRole("option", { name: "Oldest", exact: true }).click();
  await first(ids[0]!);
  expect(page.url()).toContain("order=asc");
  await page.getByText("27 threads").waitFor();
  await page.getByRole("button", { name: "2", exact: true }).click();
  await first(ids[25]!);
  expect(await links.count()).toBe(2);
  await page.reload();
  await first(ids[25]!);

  const id = await createConversation("of the agent", { batch });
  await page.goto(at(`threads?meta=${encodeURIComponent(`batch=${batch}`)}`));
  await page.getByRole("combobox", { name: "Assistant" }).click();
  await page.getByRole("option", { name: "agent", exact: true }).click();
  await first(id);
  await until(async () => (await links.count()) === 1);
  await page.getByRole("radio", { name: /^All 1$/ }).waitFor({ state: "attached" });
  expect(errors).toEqual([]);
  await context.close();
});

test("a thread shows its state and runs, compares two checkpoints, and can be forked, copied and deleted", async () => {
  const id = await createConversation("weather in Bonn");
  const { page, context, errors } = await openPage(browser);
  await page.goto(at(`threads/${id}`));
  await page.getByRole("article").filter({ hasText: "The tool says: sunny in Bonn" }).waitFor();

  await page.getByRole("tab", { name: "Runs" }).click();
  const [run] = await client.runs.list(id);
  await page.getByRole("row").filter({ hasText: run!.run_id }).getByText("success").waitFor();

  await page.getByRole("tab", { name: "History" }).click();
  const checkpoints = page.getByRole("list", { name: "Checkpoints" }).getByRole("checkbox");
  await until(async () => (await checkpoints.count()) === 5);
  await checkpoints.nth(0).check();
  await page.waitForURL(/checkpoint=/);
  await page.getByRole("tree", { name: "values" }).waitFor();
  await checkpoints.nth(1).check();
  await page.getByText("Changes from older to newer").waitFor();
  await page.getByText("The tool says: sunny in Bonn").first().waitFor();
  const compared = page.url();
  await page.reload();
  await page.getByText("Changes from older to newer").waitFor();
  expect(page.url()).toBe(compared);

  // a branch is drawn as a branch
  const history = await client.threads.getHistory(id);
  await client.runs.wait(id, "agent", { input: null, checkpointId: history[2]!.checkpoint.checkpoint_id! });
  const branch = page.getByRole("button", { name: "Branch 2" });
  await branch.getByText("2 steps, from step 1").waitFor();
  // the compared states are in it, so it is open
  expect(await branch.getAttribute("aria-expanded")).toBe("true");
  const before = await checkpoints.count();
  await branch.click();
  await until(async () => (await checkpoints.count()) === before - 2);

  await page.getByRole("button", { name: "Duplicate" }).click();
  await until(() => Promise.resolve(!page.url().includes(id)));
  const copy = new URL(page.url()).pathname.split("/").at(-1)!;
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Delete this thread?" });
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.waitForURL(/\/threads$/);
  await expect(client.threads.get(copy)).rejects.toThrow(/404/);
  await client.threads.get(id);
  expect(errors).toEqual([]);
  await context.close();
});

test("two threads are compared from the list: where their conversations part, and how their states differ", async () => {
  const batch = crypto.randomUUID();
  const ids = await Promise.all(
    ["weather in Bonn", "weather in Rome"].map(async (second) => {
      const id = await createConversation("hello", { batch });
      await client.runs.wait(id, "agent", sendMessage(second));
      return id;
    }),
  );
  const { page, context, errors } = await openPage(browser);
  await page.goto(at(`threads?meta=batch%3D${batch}`));
  for (const id of ids) await page.getByRole("checkbox", { name: `Select thread ${id.slice(-8)}` }).check();
  await page.getByRole("link", { name: "Compare 2 threads" }).click();
  await page.waitForURL(new RegExp(`/threads/${ids[0]}.*against=${ids[1]}`));
  await page.getByText("The first 2 messages are the same.").waitFor();
  const side = (name: string) => page.getByRole("region", { name: `Thread ${name}`, exact: true });
  await side("A").getByText("The tool says: sunny in Bonn").waitFor();
  await side("B").getByText("The tool says: sunny in Rome").waitFor();
  expect(await page.getByText("Differs from here").count()).toBe(2);
  const rows = page.getByRole("table", { name: "Both threads" }).getByRole("row");
  expect((await rows.nth(1).getByRole("cell").allInnerTexts()).slice(2, 4)).toEqual(["2", "6"]);
  await page.getByRole("tab", { name: "Differences of state" }).click();
  await page.locator("ins").filter({ hasText: "Rome" }).first().waitFor();

  // from a thread's own page, another one is suggested
  await page.goto(at(`threads/${ids[0]}?tab=compare`));
  await page
    .getByRole("list", { name: "Recent threads" })
    .getByRole("button")
    .filter({ hasText: "Rome" })
    .first()
    .click();
  await page.getByText("The first 2 messages are the same.").waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("cancels a run on its thread's page, live", async () => {
  const { thread_id: id } = await client.threads.create();
  await client.runs.create(id, "slow", { input: { steps: 20, ms: 2_000, label: "x" } });
  const { page, context, errors } = await openPage(browser);
  await page.goto(at(`threads/${id}?tab=runs`));
  await page.getByText("Running", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("cell").getByText("Interrupted", { exact: true }).waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("the inbox lists interrupted threads and answers them", async () => {
  const id = await createInterrupted();
  const { page, context, errors } = await openPage(browser);
  await page.goto(at("inbox"));
  const card = page.getByRole("article", { name: `Thread ${id}` });
  await card.getByText(`Publish topic ${id.slice(-4)}?`).waitFor();
  await card.getByLabel("Answer", { exact: true }).fill("no");
  await card.getByRole("button", { name: "Answer", exact: true }).click();
  await card.getByText("Answered. The run continues.").waitFor();
  await until(async () => {
    const { values } = await client.threads.getState<{ log: string[] }>(id);
    return values.log.includes("dropped");
  });
  expect(errors).toEqual([]);
  await context.close();
});

test("the inbox offers a payload's answers, and keeps the question of an answer that the graph rejects", async () => {
  const { thread_id: id } = await client.threads.create();
  await client.runs.wait(id, "review", { input: { topic: "lunch", recipient: "ada@example.com" } });
  const { page, context, errors } = await openPage(browser);
  await page.goto(at("inbox"));
  const card = page.getByRole("article", { name: `Thread ${id}` });
  await card.getByRole("button", { name: "approve", exact: true }).waitFor();
  expect(await card.getByRole("button", { name: /Approve \(true\)|Reject/ }).count()).toBe(0);
  await card.getByRole("button", { name: "edit…" }).click();
  const answer = card.getByLabel("Answer", { exact: true });
  expect(JSON.parse(await answer.inputValue())).toEqual({ action: "edit", draft: "…" });
  await answer.fill("perhaps");
  await card.getByRole("button", { name: "Answer", exact: true }).click();
  await page.getByText("The run failed after this answer").waitFor();
  await page.getByText(/Use approve, edit or reject/).waitFor();
  const second = await context.newPage();
  await second.goto(at(`threads/${id}`));
  await second.getByRole("region", { name: "Needs review" }).getByText("Shall this be sent?").waitFor();
  await second.close();
  await card.getByRole("button", { name: "approve", exact: true }).click();
  await card.getByText("Answered. The run continues.").waitFor();
  await until(async () => (await client.threads.getState<{ status: string }>(id)).values.status === "sent");
  expect(errors).toEqual([]);
  await context.close();
});

test("an answered card keeps its place in the inbox, so that no other moves under the pointer", async () => {
  const ids = [await createInterrupted(), await createInterrupted()];
  const { page, context } = await openPage(browser);
  await page.goto(at("inbox"));
  const [first, second] = ids.map((id) => page.getByRole("article", { name: `Thread ${id}` }));
  await second!.getByLabel("Answer", { exact: true }).waitFor();
  const distance = async () => (await second!.boundingBox())!.y - (await first!.boundingBox())!.y;
  const before = await distance();
  await first!.getByLabel("Answer", { exact: true }).fill("no");
  await first!.getByRole("button", { name: "Answer", exact: true }).click();
  await first!.getByText("Answered. The run continues.").waitFor();
  expect(await distance()).toBeCloseTo(before, 0);
  await context.close();
});

test("shows feedback on a thread's runs", async () => {
  const id = await createConversation("hello");
  const [run] = await client.runs.list(id);
  const feedback = { run_id: run!.run_id, key: "helpful", score: 1, comment: "well said" };
  const response = await fetch(`${platform.traceUrl}/api/v1/feedback`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(feedback),
  });
  expect(response.status).toBe(200);
  const { page, context, errors } = await openPage(browser);
  await page.goto(at(`threads/${id}?tab=feedback`));
  await page.getByRole("row").filter({ hasText: "helpful" }).getByText("well said").waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("a run's page shows its checkpoints, trace, webhook and feedback on one time axis, with links to them", async () => {
  const { thread_id: id } = await client.threads.create();
  const webhook = `${platform.agentUrl}/ok`;
  await client.runs.wait(id, "agent", { ...sendMessage("What is the weather in Rome?"), webhook });
  const [run] = await client.runs.list(id);
  const runId = run!.run_id;
  await until(async () => (await fetch(`${platform.traceUrl}/runs/${runId}`)).ok);
  await fetch(`${platform.traceUrl}/api/v1/feedback`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ run_id: runId, key: "helpful", score: 1, comment: "dry and warm" }),
  });
  const { page, context, errors } = await openPage(browser);
  await page.goto(at(`threads/${id}?tab=runs`));
  await page.getByRole("link", { name: runId }).click();
  await page.waitForURL((url) => url.pathname.endsWith(`/threads/${id}/runs/${runId}`));
  const events = page.getByRole("table", { name: "Events" });
  const row = (part: string, name: string | RegExp) =>
    events.getByRole("row").filter({ hasText: part }).filter({ hasText: name });
  await row("Run", "Executed: success").waitFor();
  await row("Trace", "get_weather").waitFor();
  await row("Webhooks", webhook).waitFor();
  await row("Feedback", "dry and warm").waitFor();
  // one moment for each checkpoint of the run, none before its creation
  const history = await client.threads.getHistory(id);
  await until(async () => (await row("Checkpoints", /Step|Input/).count()) === history.length);
  const axis = page.getByRole("img", { name: /^Time axis of/ });
  expect(await axis.locator('[data-event^="checkpoint "]').count()).toBe(history.length);
  expect(await events.getByRole("row").filter({ hasText: "-" }).filter({ hasText: /^-/ }).count()).toBe(0);
  // a mark selects its row
  await axis.locator('[data-event^="feedback "]').click();
  await axis.locator('[data-event^="feedback "][aria-current]').waitFor();

  await row("Checkpoints", "Step 1").getByRole("link").click();
  await page.waitForURL(/checkpoint=/);
  await page.goBack();
  await row("Trace", "get_weather").getByRole("link").click();
  await page.getByRole("article", { name: "Run get_weather" }).waitFor();
  // and from the trace back to the run
  await page.getByRole("link", { name: `run ${runId.slice(-8)}` }).click();
  await row("Run", "Queued").waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("a failed run's page shows its error, and an unknown run is reported", async () => {
  const { thread_id: id } = await client.threads.create();
  await client.runs.wait(id, "failing", { input: {}, raiseError: false });
  const [run] = await client.runs.list(id);
  const { page, context } = await openPage(browser);
  await page.goto(at(`threads/${id}/runs/${run!.run_id}`));
  await page.getByRole("alert").filter({ hasText: "boom" }).waitFor();
  await page.getByRole("row").filter({ hasText: "Executed: error" }).waitFor();
  const failed = page.getByRole("img", { name: /^Time axis of/ }).locator('[data-event="execution"]');
  expect(await failed.getAttribute("title")).toMatch(/^Executed: error/);
  await page.goto(at(`threads/${id}/runs/${crypto.randomUUID()}`));
  await page.getByRole("alert").filter({ hasText: "Not found" }).waitFor();
  await context.close();
});
