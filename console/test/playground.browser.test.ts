import { Client } from "@langchain/langgraph-sdk";
import type { Browser, Page } from "playwright-core";
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

const playground = (query = "") => `${platform.url}/a/local/playground${query}`;
const threadId = (page: Page) => new URL(page.url()).searchParams.get("thread")!;

async function sendMessage(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
}

const answer = (page: Page, text: string) => page.getByRole("article").filter({ hasText: text }).first().waitFor();
const badge = (page: Page, status: string) =>
  page.getByRole("group", { name: "Run", exact: true }).getByText(status, { exact: true }).waitFor();

/** Sets the delay per token, so that a run can be observed while it streams. */
async function writeSlowly(page: Page, delay: number): Promise<void> {
  await page.getByRole("tab", { name: "Setup" }).click();
  await page.getByRole("textbox", { name: "Config as JSON" }).fill(JSON.stringify({ configurable: { delay } }));
  await page.getByRole("tab", { name: "Graph" }).click();
}

test("a chat shows tokens, a tool call with its result, active nodes, each step's state and the trace", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(playground("?assistant=agent"));
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  await writeSlowly(page, 250);
  await sendMessage(page, "weather in Bonn");
  await page.locator('[data-node="model"][data-state="active"]').waitFor();
  await page.locator('[data-node="tools"][data-state="done"]').waitFor();
  const call = page.getByRole("region", { name: "Tool call get_weather" });
  await call.getByText("sunny in Bonn").waitFor();
  // token by token: the beginning is visible before the end
  await answer(page, "The tool");
  expect(await page.getByText("The tool says: sunny in Bonn").count()).toBe(0);
  await answer(page, "The tool says: sunny in Bonn");
  await badge(page, "Success");
  await page.getByTitle("Duration of the step that wrote this message").nth(1).waitFor();
  await page.getByRole("tab", { name: "Steps" }).click();
  await page.getByRole("region", { name: "Step 2: tools" }).getByText("State", { exact: true }).click();
  await page.getByRole("tree", { name: "State" }).getByText("messages").first().waitFor();
  await until(async () => {
    await page.getByRole("button", { name: "Trace", exact: true }).click();
    return await page.waitForURL(/\/projects\/.+\/r\/.+/, { timeout: 2_000 }).then(
      () => true,
      () => false,
    );
  });
  expect(errors).toEqual([]);
  await context.close();
});

test("draws the graph on a phone, also after the window shrinks to one", async () => {
  const { page, context, errors } = await openPage(browser, { width: 390 });
  await page.goto(playground("?assistant=agent"));
  const [node, frame] = [page.locator('[data-node="model"]'), page.getByRole("group", { name: "Graph" })];
  await node.waitFor();
  const isDrawn = async () => {
    const [inside, around] = [await node.boundingBox(), await frame.boundingBox()];
    return (
      inside !== null &&
      around !== null &&
      around.height > 300 &&
      inside.x >= around.x &&
      inside.x + inside.width <= around.x + around.width &&
      inside.y >= around.y &&
      inside.y + inside.height <= around.y + around.height
    );
  };
  await until(isDrawn);
  for (const width of [2560, 390]) {
    await page.setViewportSize({ width, height: 844 });
    await until(isDrawn);
  }
  expect(errors).toEqual([]);
  await context.close();
});

test("the playground loads little before its lazy parts", async () => {
  const { page, context, errors } = await openPage(browser);
  const sizes = new Map<string, number>();
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  const urls = new Map<string, string>();
  session.on("Network.responseReceived", ({ requestId, response }) => urls.set(requestId, response.url));
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) =>
    sizes.set(new URL(urls.get(requestId) ?? "http://none").pathname, encodedDataLength),
  );
  await page.goto(`${platform.url}/a/local/playground`);
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  const usable = await page.evaluate(() => performance.now());
  await page.locator('[data-node="model"]').waitFor();
  const sum = (match: (path: string) => boolean) =>
    [...sizes].filter(([path]) => match(path)).reduce((total, [, bytes]) => total + bytes, 0);
  // answers of the servers have the size of the project
  const isLazy = (path: string) =>
    /^\/api\/|\/(workbench|use-run|subagents|graph-view|json-view|markdown|offline)-/.test(path);
  const first = sum((path) => !isLazy(path));
  console.log(
    `playground: ${first / 1000} kB and lazily ${sum(isLazy) / 1000} kB; usable after ${usable.toFixed(0)} ms`,
  );
  expect(first).toBeGreaterThan(50_000);
  expect(first).toBeLessThan(300_000);
  expect(errors).toEqual([]);
  await context.close();
});

test("a message is edited and sent again; branches can be switched, and an older step continued", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(playground("?assistant=agent&panel=steps"));
  await sendMessage(page, "one");
  await answer(page, "You said: one");
  await badge(page, "Success");
  await page.getByRole("button", { name: "Edit and resend" }).click();
  await page.getByLabel("Edited message").fill("two");
  await page.getByRole("button", { name: "Resend" }).click();
  await answer(page, "You said: two");
  const branches = page.getByRole("group", { name: "Branches" });
  await branches.getByText("2 / 2").waitFor();
  await branches.getByRole("button", { name: "Previous branch" }).click();
  await answer(page, "You said: one");
  expect(await page.getByText("You said: two").count()).toBe(0);
  await branches.getByRole("button", { name: "Next branch" }).click();
  await answer(page, "You said: two");
  await branches.getByRole("button", { name: "Previous branch" }).click();
  await answer(page, "You said: one");
  // new messages continue from the branch that is shown
  await sendMessage(page, "three");
  await answer(page, "You said: three");
  await until(
    async () => (await page.getByRole("article").filter({ hasText: "You said" }).allInnerTexts()).length === 2,
  );
  const { values } = await client.threads.getState<{ messages: { content: string }[] }>(threadId(page));
  expect(values.messages.map(({ content }) => content)).toEqual(["one", "You said: one", "three", "You said: three"]);

  // the steps are a tree: the other branch is closed, and named by what was said in it
  const branch = page.getByRole("button", { name: "Branch 2" });
  await branch.getByText("You said: two").waitFor();
  expect(await branch.getAttribute("aria-expanded")).toBe("false");
  const steps = page.getByRole("region", { name: /^Step \d|^Input/ });
  const shown = await steps.count();
  await branch.click();
  await until(async () => (await steps.count()) > shown);
  await branch.click();
  await until(async () => (await steps.count()) === shown);

  // time travel: viewing an earlier state and sending a message from it creates a branch
  await page.getByRole("region", { name: "Step 1: model" }).last().getByRole("button", { name: "View" }).click();
  await page.getByText("Viewing an earlier state").waitFor();
  await page.waitForURL(/checkpoint=/);
  await sendMessage(page, "four");
  await answer(page, "You said: four");
  await badge(page, "Success");
  expect(page.url()).not.toContain("checkpoint=");
  const history = await client.threads.getHistory(threadId(page), { limit: 50 });
  const parents = history.map(({ parent_checkpoint: parent }) => parent?.checkpoint_id).filter(Boolean);
  expect(new Set(parents).size).toBeLessThan(parents.length);
  expect(errors).toEqual([]);
  await context.close();
});

test("a state is edited, and the run continues from it", async () => {
  const { page, context, errors } = await openPage(browser);
  const { thread_id: id } = await client.threads.create();
  await client.runs.wait(id, "counter", { input: { add: 1 } });
  await page.goto(playground(`?thread=${id}&panel=steps`));
  const step = page.getByRole("region", { name: "Step 1: increment" });
  await step.getByRole("button", { name: "Edit state" }).click();
  const dialog = page.getByRole("dialog", { name: "Edit state" });
  // its form has the state's schema, and is the same state as the JSON
  expect(await dialog.getByLabel("total").inputValue()).toBe("1");
  await dialog.getByText("JSON", { exact: true }).click();
  await dialog.getByRole("textbox", { name: "State" }).fill('{"total": 99}');
  await dialog.getByText("Form", { exact: true }).click();
  expect(await dialog.getByLabel("total").inputValue()).toBe("99");
  await dialog.getByLabel("total").fill("100");
  await dialog.getByRole("button", { name: "Save and resume" }).click();
  await dialog.waitFor({ state: "hidden" });
  // 1 + 100 by the graph's reducer, doubled by the node that follows
  await until(async () => {
    const { values, next } = await client.threads.getState<{ total: number }>(id);
    return next.length === 0 && values.total === 202;
  });
  await page.getByRole("region", { name: /edited manually/ }).waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("what a message said is edited in the state's form", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(playground("?assistant=agent&panel=steps"));
  await sendMessage(page, "bread");
  await answer(page, "You said: bread");
  await badge(page, "Success");
  await page.getByRole("region", { name: "Step 1: model" }).getByRole("button", { name: "Edit state" }).click();
  const dialog = page.getByRole("dialog", { name: "Edit state" });
  await dialog.getByLabel("2. assistant").fill("You said cake.");
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
  await dialog.waitFor({ state: "hidden" });
  await answer(page, "You said cake.");
  const { values } = await client.threads.getState<{ messages: { content: string }[] }>(threadId(page));
  expect(values.messages.map(({ content }) => content)).toEqual(["bread", "You said cake."]);
  expect(errors).toEqual([]);
  await context.close();
});

test("breakpoints are set on the graph, and a run is stepped through by Enter", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(playground("?assistant=agent"));
  const dot = page.getByRole("group", { name: "Graph" }).getByRole("button", { name: "Stop before tools" });
  await dot.focus();
  await page.keyboard.press("Enter");
  await page.getByText("Stops before tools").waitFor();
  expect(await dot.getAttribute("aria-pressed")).toBe("true");
  await sendMessage(page, "weather in Bonn");
  const stopped = (node: string) => page.getByRole("alert").filter({ hasText: `Stopped before ${node}` });
  await stopped("tools").waitFor();
  await page.locator('[data-node="tools"][data-state="waiting"]').waitFor();
  await stopped("tools").getByRole("button", { name: "Continue" }).click();
  await answer(page, "The tool says: sunny in Bonn");
  await badge(page, "Success");

  await dot.click();
  await page.getByRole("button", { name: "Step through", pressed: false }).click();
  await sendMessage(page, "weather in Rome");
  for (const node of ["model", "tools", "model"]) {
    await stopped(node).waitFor();
    const step = stopped(node).getByRole("button", { name: "Next step" });
    await until(() => step.evaluate((element) => element === document.activeElement));
    await page.keyboard.press("Enter");
  }
  await answer(page, "The tool says: sunny in Rome");
  await badge(page, "Success");
  const runs = await client.runs.list(threadId(page));
  // two of the first message, and one for each stop of the second and its end
  expect(runs).toHaveLength(6);
  expect(errors).toEqual([]);
  await context.close();
});

test("files are attached by button and drop, sent with the message, and kept when its text is edited", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(playground("?assistant=agent"));
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  const notes = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("paid on Monday") };
  const report = { name: "report.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.4") };
  await page.getByLabel("Files", { exact: true }).setInputFiles([notes, report]);
  const files = page.getByRole("list", { name: "Attached files" }).getByRole("listitem");
  await until(async () => (await files.count()) === 2);
  await page.getByRole("textbox", { name: "Message" }).evaluate((field) => {
    const data = new DataTransfer();
    data.items.add(new File(["x"], "dropped.bin", { type: "application/zip" }));
    field.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  });
  await until(async () => (await files.count()) === 3);
  await page.getByRole("button", { name: "Remove dropped.bin" }).click();
  await sendMessage(page, "read these");
  await badge(page, "Success");
  await page.getByRole("link", { name: "report.pdf (application/pdf)" }).waitFor();
  expect(await files.count()).toBe(0);
  const sent = async () => {
    const { values } = await client.threads.getState<{ messages: { content: Record<string, unknown>[] }[] }>(
      threadId(page),
    );
    return values.messages[0]!.content;
  };
  const attached = [
    { type: "text", text: "notes.txt:\n\npaid on Monday" },
    expect.objectContaining({ type: "file", mime_type: "application/pdf", metadata: { filename: "report.pdf" } }),
  ];
  expect(await sent()).toEqual([{ type: "text", text: "read these" }, ...attached]);
  await page.getByRole("button", { name: "Edit and resend" }).click();
  await page.getByLabel("Edited message").fill("read them again");
  await page.getByRole("button", { name: "Resend" }).click();
  await page.getByRole("group", { name: "Branches" }).getByText("2 / 2").waitFor();
  await until(async () => (await sent())[0]!["text"] === "read them again");
  expect(await sent()).toEqual([{ type: "text", text: "read them again" }, ...attached]);
  expect(errors).toEqual([]);
  await context.close();
});

test("answers an interrupt in place, by text and by JSON, and one of two before the other", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(playground("?assistant=approval"));
  await page.getByLabel("topic").fill("bread");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const card = page.getByRole("dialog", { name: "Needs review" });
  await card.getByText("Publish bread?").waitFor();
  await page.locator('[data-node="ask"][data-state="waiting"]').waitFor();
  await card.getByLabel("Answer", { exact: true }).fill('{"yes": true}');
  await card.getByRole("button", { name: "Answer", exact: true }).click();
  await card.waitFor({ state: "hidden" });
  await badge(page, "Success");
  const state = await client.threads.getState<{ answer: unknown; log: string[] }>(threadId(page));
  expect(state.values).toMatchObject({ answer: { yes: true }, log: ["draft:bread", "asked", "published"] });

  // a rejected answer keeps the question in the foreground; another input is one click away
  await page.goto(playground("?assistant=review"));
  await page.getByLabel("topic").fill("lunch");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await card.getByText("Shall this be sent?").waitFor();
  await card.getByText("Dear ada, let us talk about lunch.").waitFor();
  // the question has the focus, and the tab's title counts it
  await until(() => card.evaluate((element) => element === document.activeElement));
  await page.waitForFunction(() => /^\(\d+\) Playground/.test(document.title));
  expect(await page.getByRole("button", { name: "Run", exact: true }).count()).toBe(0);
  await card.getByLabel("Answer", { exact: true }).fill("perhaps");
  await card.getByRole("button", { name: "Answer", exact: true }).click();
  await page.getByText(/Use approve, edit or reject/).waitFor();
  await card.getByText("Shall this be sent?").waitFor();
  await page.reload();
  await card.getByText("Shall this be sent?").waitFor();
  expect(await page.getByRole("button", { name: "Run", exact: true }).count()).toBe(0);
  await until(() => card.evaluate((element) => element === document.activeElement));
  // a number in a text field is text
  await card.getByLabel("Answer", { exact: true }).fill("1");
  await card.getByLabel("Answer", { exact: true }).press("1");
  await card.getByText("Shall this be sent?").waitFor();
  await card.focus();
  await page.keyboard.press("1");
  await card.waitFor({ state: "hidden" });
  await badge(page, "Success");
  const sent = await client.threads.getState<{ status: string }>(threadId(page));
  expect(sent.values.status).toBe("sent");

  await page.goto(playground("?assistant=parallel"));
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await until(async () => (await card.count()) === 2);
  await page.getByRole("button", { name: "Send another input instead" }).click();
  await page.getByRole("button", { name: "Back to the question" }).click();
  await card.filter({ hasText: "right" }).getByRole("button", { name: "Approve (true)" }).click();
  await until(async () => (await card.count()) === 1);
  await card.filter({ hasText: "left" }).getByRole("button", { name: "Reject (false)" }).click();
  await card.waitFor({ state: "hidden" });
  await until(async () => {
    const { values } = await client.threads.getState<{ answers: object }>(threadId(page));
    return JSON.stringify(values.answers) === JSON.stringify({ left: false, right: true, merged: "left+right" });
  });
  // the client library logs the rejected answer
  expect(errors.filter((error) => !error.includes("Not an answer"))).toEqual([]);
  await context.close();
});

test("an interrupt whose payload has a schema is answered by its form", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(playground("?assistant=order"));
  await sendMessage(page, "send it");
  const card = page.getByRole("dialog", { name: "Needs review" });
  await card.getByText("Where shall it be sent?").waitFor();
  const submit = card.getByRole("button", { name: "Answer" }).first();
  await card.getByText("Required: city").waitFor();
  expect(await submit.isDisabled()).toBe(true);
  // the schema is the form, and not text to read
  expect(await card.getByText("properties").count()).toBe(0);
  await card.getByRole("textbox", { name: "City" }).fill("Rome");
  await card.getByLabel("Floor").fill("3");
  await submit.click();
  await answer(page, 'Sent: {"city":"Rome","floor":3}');
  expect(errors).toEqual([]);
  await context.close();
});

test("a reply shows its cost and takes thumbs, which are feedback on its run", async () => {
  const price = { name: "priced", match_pattern: "^priced-1$", prompt_cost: "0.001", completion_cost: "0.01" };
  const created = await fetch(`${platform.traceUrl}/api/v1/model-price-map`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(price),
  });
  expect(created.status).toBeLessThan(300);
  const { page, context, errors } = await openPage(browser);
  await page.goto(playground("?assistant=priced"));
  await sendMessage(page, "hello");
  await answer(page, "You said: hello");
  // 100 tokens in and 20 out
  await page.getByTitle("Cost of the LLM calls in this step").getByText("$0.3000").waitFor();
  await page.getByText("100 tokens in · 20 out").waitFor();
  const id = threadId(page);
  const [run] = await client.runs.list(id);
  const given = async () => {
    const response = await fetch(`${platform.traceUrl}/api/v1/feedback?run=${run!.run_id}`);
    return ((await response.json()) as { key: string; score: number }[]).map(({ key, score }) => [key, score]);
  };
  const thumb = (name: string) => page.getByRole("button", { name, exact: true });
  await thumb("Good reply").click();
  await page.getByRole("button", { name: "Good reply", pressed: true }).waitFor();
  expect(await given()).toEqual([["user_score", 1]]);
  // the other thumb replaces it, and the same one takes it back
  await thumb("Bad reply").click();
  await page.getByRole("button", { name: "Bad reply", pressed: true }).waitFor();
  expect(await given()).toEqual([["user_score", 0]]);
  await page.reload();
  await page.getByRole("button", { name: "Bad reply", pressed: true }).waitFor();
  await thumb("Bad reply").click();
  await page.getByRole("button", { name: "Bad reply", pressed: false }).waitFor();
  expect(await given()).toEqual([]);
  expect(errors).toEqual([]);
  await context.close();
});

test("sub-agents answer side by side as they stream, and are there after a reload", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(playground("?assistant=team"));
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  await writeSlowly(page, 200);
  await sendMessage(page, "a b c d e f g h");
  await page.getByRole("tab", { name: "Sub-agents" }).click();
  const agent = (name: string) => page.getByRole("region", { name: `Sub-agent ${name}` });
  // both at the same time, before either has ended
  for (const name of ["baker", "brewer"]) await agent(name).getByText(`You said: ${name}: a b`).waitFor();
  await Promise.all(["baker", "brewer"].map((name) => agent(name).getByText("Running").waitFor()));
  const [left, right] = await Promise.all([agent("baker").boundingBox(), agent("brewer").boundingBox()]);
  expect(Math.abs(left!.y - right!.y)).toBeLessThan(2);
  expect(Math.abs(left!.x - right!.x)).toBeGreaterThan(100);
  await badge(page, "Success");
  for (const name of ["baker", "brewer"]) await agent(name).getByText("Done").waitFor();
  await page.reload();
  for (const name of ["baker", "brewer"]) await agent(name).getByText(`You said: ${name}: a b c d e f g h`).waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("a chat is shared by a link: others continue it, or begin their own, and rate replies with a comment", async () => {
  const [first, second] = await Promise.all([openPage(browser), openPage(browser)]);
  await first.page.goto(playground("?assistant=agent"));
  await first.page.getByRole("link", { name: "Chat", exact: true }).click();
  await first.page.waitForURL(/\/a\/local\/chat\?/);
  await sendMessage(first.page, "hello");
  await answer(first.page, "You said: hello");
  await first.page.waitForURL(/thread=/);
  await first.page.getByRole("button", { name: "Share" }).click();
  const links = first.page.getByRole("dialog", { name: "Share" });
  const own = await links.getByRole("textbox", { name: "New conversation with agent" }).inputValue();
  const shared = await links.getByRole("textbox", { name: "This conversation" }).inputValue();
  expect(own).not.toContain("thread=");
  expect(own).toContain("assistant=agent");

  // the same conversation, live in both browsers
  await second.page.goto(shared);
  await answer(second.page, "You said: hello");
  await sendMessage(second.page, "and thanks");
  await answer(second.page, "You said: and thanks");
  await answer(first.page, "You said: and thanks");
  const reply = second.page.getByRole("article").filter({ hasText: "You said: and thanks" });
  await reply.getByRole("button", { name: "Bad reply" }).click();
  await reply.getByRole("button", { name: "Add comment" }).click();
  await second.page.getByRole("textbox", { name: "Comment" }).fill("Too short.");
  await second.page.keyboard.press("Control+Enter");
  await reply.getByRole("button", { name: "Edit comment" }).waitFor();
  const [newest] = await client.runs.list(threadId(second.page), { limit: 1 });
  const given = await fetch(`${platform.traceUrl}/api/v1/feedback?run=${newest!.run_id}`);
  expect(await given.json()).toMatchObject([{ key: "user_score", score: 0, comment: "Too short." }]);

  await second.page.goto(own);
  await second.page.getByRole("textbox", { name: "Message" }).waitFor();
  expect(await second.page.getByRole("article").count()).toBe(0);
  expect([...first.errors, ...second.errors]).toEqual([]);
  await first.context.close();
  await second.context.close();
});

test("two assistants answer the same message side by side, each in its own thread", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(playground("?assistant=agent"));
  await page.getByRole("button", { name: "Compare" }).click();
  await page.waitForURL(/versus=/);
  const second = page.getByRole("region", { name: "Second assistant" });
  await second.getByRole("combobox").click();
  await page.getByRole("option", { name: /^priced/ }).click();
  await sendMessage(page, "weather in Oslo");
  const first = page.getByRole("region", { name: "First assistant" });
  await first.getByText("The tool says: sunny in Oslo").waitFor();
  await second.getByRole("region", { name: "Tool call get_weather" }).waitFor();
  for (const side of [first, second]) await side.getByText("Success", { exact: true }).waitFor();
  const { searchParams } = new URL(page.url());
  const threads = [searchParams.get("thread")!, searchParams.get("beside")!];
  expect(new Set(threads).size).toBe(2);
  const graphs = await Promise.all(threads.map(async (id) => (await client.threads.get(id)).metadata?.["graph_id"]));
  expect(graphs).toEqual(["agent", "priced"]);
  // both conversations continue after a reload
  await page.reload();
  await first.getByText("The tool says: sunny in Oslo").waitFor();
  await second.getByRole("region", { name: "Tool call get_weather" }).waitFor();
  await sendMessage(page, "thanks");
  await first.getByText("You said: thanks").waitFor();
  await second.getByText("You said: thanks").waitFor();
  await page.getByRole("button", { name: "Stop comparing" }).click();
  await page.waitForURL((url) => !url.searchParams.has("versus"));
  await answer(page, "You said: thanks");
  expect(errors).toEqual([]);
  await context.close();
});

test("edits a tool call before approving it", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(playground("?assistant=mailer"));
  await sendMessage(page, "write to Ada");
  const card = page.getByRole("dialog", { name: "Needs review" });
  await card.getByText("Sends a mail to a person.").waitFor();
  await card.getByText("Edit", { exact: true }).click();
  await card.getByRole("textbox", { name: "Edited arguments of send_mail" }).fill('{"to": "grace@example.com"}');
  await card.getByRole("button", { name: "Edit", exact: true }).click();
  await answer(page, "Done: sent to grace@example.com");
  await badge(page, "Success");
  expect(errors).toEqual([]);
  await context.close();
});

test("during a run, a message can be enqueued and withdrawn, rejected, or the run cancelled", async () => {
  const { page, context } = await openPage(browser);
  await page.goto(playground("?assistant=slow"));
  const fill = async (label: string, steps: number) => {
    await page.getByLabel("steps", { exact: true }).fill(String(steps));
    await page.getByLabel("ms", { exact: true }).fill("2000");
    await page.getByLabel("label", { exact: true }).fill(label);
  };
  await fill("first", 20);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.locator('[data-node="wait"][data-state="active"]').waitFor();

  await fill("second", 1);
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("button", { name: "Cancel queued run 1" }).click();
  await page.getByRole("button", { name: "Cancel queued run 1" }).waitFor({ state: "hidden" });

  await page.getByRole("combobox", { name: "Multitask strategy" }).click();
  await page.getByRole("option", { name: /^Reject/ }).click();
  await fill("third", 1);
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("Could not start the run").waitFor();

  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  await badge(page, "Interrupted");
  const { values } = await client.threads.getState<{ log: string[] }>(threadId(page));
  expect(values.log[0]).toBe("first:begin");
  expect(values.log.some((line) => /second|third/.test(line))).toBe(false);
  await context.close();
});

test("a run with interrupt replaces the previous one", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(playground("?assistant=agent"));
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  await writeSlowly(page, 400);
  await sendMessage(page, "a b c d e f g h i j k l m n o p");
  await answer(page, "You said: a");
  await page.getByRole("combobox", { name: "Multitask strategy" }).click();
  await page.getByRole("option", { name: /^Interrupt/ }).click();
  await sendMessage(page, "stop");
  await answer(page, "You said: stop");
  await badge(page, "Success");
  const runs = await client.runs.list(threadId(page));
  expect(runs.map(({ status }) => status).toSorted()).toEqual(["interrupted", "success"]);
  expect(errors).toEqual([]);
  await context.close();
});

test("a run with rollback leaves nothing of the previous one", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(playground("?assistant=agent"));
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  await sendMessage(page, "keep this");
  await answer(page, "You said: keep this");
  await badge(page, "Success");
  await writeSlowly(page, 400);
  await sendMessage(page, "a b c d e f g h i j k l m n o p");
  await answer(page, "You said: a b");
  await page.getByRole("combobox", { name: "Multitask strategy" }).click();
  await page.getByRole("option", { name: /^Roll back/ }).click();
  await sendMessage(page, "instead");
  await answer(page, "You said: instead");
  await badge(page, "Success");
  await until(async () => (await page.getByRole("article").allInnerTexts()).length === 4);
  expect(await page.getByText("You said: a").count()).toBe(0);
  const { values } = await client.threads.getState<{ messages: { content: string }[] }>(threadId(page));
  const expected = ["keep this", "You said: keep this", "instead", "You said: instead"];
  expect(values.messages.map(({ content }) => content)).toEqual(expected);
  await until(async () => (await client.runs.list(threadId(page))).length === 2);
  expect(errors).toEqual([]);
  await context.close();
});

test("recent threads can be opened; a missing one is reported and retried only a few times", async () => {
  const { thread_id: id } = await client.threads.create();
  await client.runs.wait(id, "agent", { input: { messages: [{ role: "user", content: "an older talk" }] } });
  const { page, context, errors } = await openPage(browser);
  await page.goto(playground("?assistant=slow"));
  await page.getByRole("button", { name: "Recent" }).click();
  await page.getByRole("button", { name: `Thread ${id}` }).click();
  await answer(page, "You said: an older talk");
  expect(threadId(page)).toBe(id);
  await page.getByRole("link", { name: "Thread", exact: true }).click();
  await page.waitForURL(new RegExp(`/threads/${id}`));

  let requests = 0;
  page.on("request", (request) => (requests += request.url().includes("00000000-0000-4000-8000-000000000000") ? 1 : 0));
  await page.goto(playground("?thread=00000000-0000-4000-8000-000000000000"));
  await page.getByRole("alert").filter({ hasText: "Could not load the thread" }).waitFor();
  // the page's initial requests have ended, and no new ones begin
  await page.waitForLoadState("networkidle");
  expect(requests).toBeLessThan(8);
  await page.getByRole("button", { name: "New thread" }).click();
  await page.getByRole("button", { name: "Run", exact: true }).or(page.getByLabel("Message")).first().waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("a run that reached the recursion limit shows it and can be continued", async () => {
  const { thread_id: id } = await client.threads.create();
  const input = { steps: 12, ms: 1, label: "x" };
  const { run_id: runId } = await client.runs.create(id, "slow", { input, config: { recursion_limit: 5 } });
  await client.runs.join(id, runId).catch(() => {});
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/a/local/threads/${id}`);
  await page.getByRole("alert").filter({ hasText: "Recursion limit of 5 reached" }).waitFor();
  await page.getByRole("link", { name: "Open in playground" }).click();
  const alert = page.getByRole("alert").filter({ hasText: "Recursion limit of 5 reached" });
  await alert.getByText("Stack").click();
  expect(await page.getByText("Stopped before").count()).toBe(0);
  // with the usual limit of 25 steps for the remaining steps
  await alert.getByRole("button", { name: "Retry" }).click();
  await badge(page, "Success");
  await page.getByRole("alert").waitFor({ state: "hidden" });
  expect(errors).toEqual([]);
  await context.close();
});

test("a cut stream continues where it stopped, and a reload rejoins the run", async () => {
  const { page, context } = await openPage(browser);
  await page.goto(playground("?assistant=agent"));
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  await writeSlowly(page, 300);
  const text = "the quick brown fox jumps over the lazy dog and then it sleeps for a long while in the sun";
  await sendMessage(page, text);
  await answer(page, "You said: the");
  await context.setOffline(true);
  await page.waitForTimeout(1_500);
  await context.setOffline(false);
  await answer(page, "jumps");
  await page.reload();
  // without a second run, and each word once
  await answer(page, `You said: ${text}`);
  await badge(page, "Success");
  expect(await client.runs.list(threadId(page))).toHaveLength(1);
  await context.close();
});

test("two browsers on one thread show the same run as it streams", async () => {
  const [first, second] = await Promise.all([openPage(browser), openPage(browser)]);
  await first.page.goto(playground("?assistant=agent"));
  await sendMessage(first.page, "hello");
  await answer(first.page, "You said: hello");
  await badge(first.page, "Success");
  await second.page.goto(first.page.url());
  await answer(second.page, "You said: hello");
  await writeSlowly(first.page, 300);
  await sendMessage(first.page, "a b c d e f g h i j k l m n o p q r s t u v w x y z");
  await second.page.locator('[data-node="model"][data-state="active"]').waitFor();
  await answer(second.page, "You said: a b");
  expect(await first.page.getByRole("button", { name: "Cancel", exact: true }).count()).toBe(1);
  // and the second one may stop it
  await second.page.getByRole("button", { name: "Cancel", exact: true }).click();
  await badge(first.page, "Interrupted");
  await badge(second.page, "Interrupted");
  expect([...first.errors, ...second.errors]).toEqual([]);
  await first.context.close();
  await second.context.close();
});

test("a failed run shows its error, and a graph without messages shows its state", async () => {
  const { page, context } = await openPage(browser);
  await page.goto(playground("?assistant=failing"));
  await page.getByLabel("reason").fill("no bread");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("alert").filter({ hasText: "no bread" }).waitFor();
  await page.locator('[data-node="fail"][data-state="failed"]').waitFor();
  await page.goto(playground("?assistant=echo&panel=setup"));
  await page.getByRole("group", { name: "Context" }).getByLabel("tone").fill("warm");
  await page.getByLabel("input", { exact: true }).fill("[1, 2]");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await badge(page, "Success");
  const { values } = await client.threads.getState<{ seen: object }>(threadId(page));
  expect(values.seen).toMatchObject({ input: [1, 2], context: { tone: "warm" } });
  await context.close();
});
