/** The prompt playground on the real platform, with fake providers of models. */
import type { Client } from "langsmith";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { modelServer, type ModelServer } from "../../server/test/model-server.ts";
import { openBrowser, openPage, until } from "./browser.ts";
import { countInputs, endJob, enter } from "./count-inputs.ts";
import { connect, place, send } from "./seed-traces.ts";
import { type SharedPlatform, sharedPlatform } from "./shared-platform.ts";

/** Name of this file's objects on the shared platform. */
const RUN = crypto.randomUUID().slice(0, 8);
const CONNECTION = `Fake ${RUN}`;
const PROJECT = `greetings ${RUN}`;
const PROMPT = `greeter-${RUN}`;
const PICTURE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAFElEQVR4nGPk6y9jwAaYsIoOWQkAC3sBHkr3PmcAAAAASUVORK5CYII=",
  "base64",
);

let platform: SharedPlatform;
let browser: Browser;
let models: ModelServer;
let client: Client;
let connectionId: string;
beforeAll(async () => {
  [platform, browser, models] = await Promise.all([sharedPlatform("open"), openBrowser(), modelServer()]);
  client = connect(platform.traceUrl);
  await request("POST", "/workspaces/current/secrets", [{ key: `KEY_${RUN}`, value: "sk-fake" }]);
  const connection = await request<{ id: string }>("POST", "/models/connections", {
    name: CONNECTION,
    provider: "openai-compatible",
    settings: { base_url: `${models.url}/v1` },
    secrets: { api_key: `KEY_${RUN}` },
    default_model: "model-a",
  });
  connectionId = connection.id;
}, 180_000);
afterAll(async () => {
  if (connectionId) await request("DELETE", `/models/connections/${connectionId}`);
  await browser?.close();
});

async function request<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`${platform.traceUrl}/api/v1${path}`, {
    method,
    headers: { "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (response.status === 204 ? undefined : await response.json().catch(() => undefined)) as T;
}

const construct = (id: string, kwargs: object) => ({ lc: 1, type: "constructor", id: id.split("."), kwargs });
const template = (role: string, text: string, input_variables: string[]) =>
  construct(`langchain.prompts.chat.${role}MessagePromptTemplate`, {
    prompt: construct("langchain.prompts.prompt.PromptTemplate", {
      input_variables,
      template_format: "f-string",
      template: text,
    }),
  });
const greeting = (text: string) =>
  construct("langchain.prompts.chat.ChatPromptTemplate", {
    input_variables: ["name"],
    messages: [template("System", "You greet people.", []), template("Human", text, ["name"])],
  });

const commit = async (repo: string, manifest: object, parent?: string) =>
  (
    await request<{ commit: { id: string; commit_hash: string } }>("POST", `/commits/-/${repo}`, {
      manifest,
      ...(parent !== undefined && { parent_commit: parent }),
    })
  ).commit;

/** An agent that pulls its prompt by tag, calls a model, and records both in its trace, as LangChain does. */
async function greet(name: string): Promise<{ answer: string; callId: string }> {
  const pulled = await client.pullPromptCommit(`${PROMPT}:production`, { skipCache: true });
  const { messages } = (pulled.manifest as ReturnType<typeof greeting>).kwargs as {
    messages: { kwargs: { prompt: { kwargs: { template: string } } } }[];
  };
  const [system, human] = messages.map(({ kwargs }) => kwargs.prompt.kwargs.template.replace("{name}", name));
  const sent = [
    { role: "system", content: system! },
    { role: "user", content: human! },
  ];
  const response = await fetch(`${models.url}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "model-a", messages: sent, stream: true }),
  });
  const answer = [...(await response.text()).matchAll(/"content":"([^"]*)"/g)].map(([, text]) => text).join("");
  const [start, callId] = [Date.now() - 500, crypto.randomUUID()];
  const root = place({ id: crypto.randomUUID(), name: "greeter", run_type: "chain", start, end: start + 400 });
  const metadata = { lc_hub_owner: "-", lc_hub_repo: PROMPT, lc_hub_commit_hash: pulled.commit_hash };
  const parts = [
    { id: crypto.randomUUID(), name: "ChatPromptTemplate", run_type: "prompt", more: { extra: { metadata } } },
    {
      id: callId,
      name: "ChatFake",
      run_type: "llm",
      more: {
        inputs: { messages: [sent] },
        outputs: { generations: [[{ text: answer, message: { role: "assistant", content: answer } }]] },
        extra: { metadata: { ls_provider: "openai-compatible", ls_model_name: "model-a", ls_temperature: 0.5 } },
      },
    },
  ];
  const children = parts.map((part, at) => place({ ...part, start: start + 10 + at, end: start + 300, parent: root }));
  await send(client, PROJECT, [root, ...children]);
  return { answer, callId };
}

const columnOf = (page: Page, letter: string) => page.getByRole("region", { name: `Column ${letter}`, exact: true });
const field = (page: Page, at: number) => page.getByRole("textbox", { name: `Text of message ${at}`, exact: true });

/** Opens an empty playground on the file's connection. */
async function openEmpty(model = "model-a") {
  const opened = await openPage(browser);
  const { page } = opened;
  await page.goto(`${platform.url}/playground`);
  await field(page, 1).waitFor();
  await chooseModel(page, "A", model);
  return opened;
}

async function chooseModel(page: Page, letter: string, model: string) {
  await page.getByRole("button", { name: new RegExp(`^Model of ${letter}:`) }).click();
  const connection = page.getByRole("combobox", { name: "Connection" });
  if ((await connection.inputValue()) !== CONNECTION) {
    await connection.click();
    await page.getByRole("option", { name: CONNECTION }).click();
  }
  const name = page.getByRole("combobox", { name: "Model", exact: true });
  await name.fill(model);
  await name.press("Escape");
  await connection.waitFor({ state: "hidden" });
}

test("open a traced call, change a word, rerun on two models, save, move the tag: the agent answers differently", async () => {
  await request("POST", "/repos", { repo_handle: PROMPT, is_public: false });
  const first = await commit(PROMPT, greeting("Greet {name}"));
  await request("POST", `/repos/-/${PROMPT}/tags`, { tag_name: "production", commit_id: first.id });
  const { answer } = await greet("Ada");
  expect(answer).toBe("Hello from model-a: Greet Ada");
  await until(async () => (await client.readProject({ projectName: PROJECT }).catch(() => null)) !== null);

  const { page, context, errors } = await openPage(browser);
  const inputs = await countInputs(context);
  await page.goto(platform.url);
  const began = Date.now();
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Traces" }).click();
  await page.getByRole("link", { name: PROJECT, exact: true }).click();
  await page.getByRole("table", { name: "Runs" }).locator("[data-row]").first().getByRole("link").first().click();
  await page.getByRole("treeitem", { name: /ChatFake/ }).click();
  await page.getByRole("link", { name: "Open in playground" }).click();
  // the template that the call was rendered from, with the values of its variables
  const text = field(page, 2);
  await until(async () => (await text.inputValue()) === "Greet {name}");
  expect(await page.getByRole("textbox", { name: "name" }).inputValue()).toBe("Ada");
  await text.dblclick({ position: { x: 20, y: 14 } });
  await page.keyboard.insertText("Salute");
  expect(await text.inputValue()).toMatch(/^Salute ?\{name\}/);
  await page.keyboard.press("Alt+m");
  await page.getByRole("button", { name: /^Model of B/ }).click();
  const model = page.getByRole("combobox", { name: "Model", exact: true });
  await until(() => model.evaluate((element) => element === document.activeElement));
  await page.keyboard.insertText("model-b");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Enter");
  await columnOf(page, "A").getByText("Hello from model-a: Salute Ada").waitFor();
  await columnOf(page, "B").getByText("Hello from model-b: Salute Ada").waitFor();
  await page.keyboard.press("Control+s");
  await enter(page.getByRole("textbox", { name: "Message", exact: true }), "Salute");
  await page.keyboard.press("Tab");
  await page.keyboard.insertText("production");
  await page.getByRole("option", { name: "production" }).waitFor();
  await page.keyboard.press("Enter");
  if (await page.getByRole("dialog").isVisible()) await page.keyboard.press("Enter");
  await page.getByText(new RegExp(`Saved ${PROMPT} as [0-9a-f]{8}; production points to it`)).waitFor();
  expect((await greet("Ada")).answer).toBe("Hello from model-a: Salute Ada");
  expect(Date.now() - began).toBeLessThan(120_000);
  expect(inputs.clicks + inputs.keys).toBeLessThanOrEqual(30);
  expect(endJob("change a prompt from a trace, and move its tag", inputs)).toEqual([]);

  // differences from the recorded answer, and from the other model
  await page.getByRole("combobox", { name: "Differences" }).selectOption({ label: "From the original answer" });
  const changes = page.getByRole("group", { name: "Differences of A from the original answer" });
  await changes.locator("ins").first().waitFor();
  expect(await changes.locator("ins").allTextContents()).toEqual(["Salute"]);
  expect(await changes.locator("del").allTextContents()).toEqual(["Greet"]);
  await page.getByRole("combobox", { name: "Differences" }).selectOption({ label: "From A" });
  await page.getByRole("group", { name: "Differences of B from A" }).waitFor();
  // each try is a trace
  const tries = page.getByRole("region", { name: "Tries" });
  expect(await tries.getByRole("listitem").count()).toBe(2);
  await tries.getByRole("link", { name: "Trace of B · model-b" }).click();
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.waitForURL(/\/projects\/.*\/r\//);
  await page.getByText("Hello from model-b: Salute Ada").first().waitFor();
  expect(errors).toEqual([]);
  await context.close();
}, 240_000);

test("a newer commit is shown, and overwritten only after a decision", async () => {
  const repo = `stale-${RUN}`;
  await request("POST", "/repos", { repo_handle: repo, is_public: false });
  const first = await commit(repo, greeting("Greet {name}"));
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/playground?prompt=-/${repo}`);
  await field(page, 2).fill("Hail {name}");
  const newer = await commit(repo, greeting("Welcome {name}"), first.commit_hash);
  await page.keyboard.press("Control+s");
  await page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("alert").getByText("The prompt has a newer commit").waitFor();
  await page.getByText("Welcome").first().waitFor();
  expect((await request<{ commit_hash: string }>("GET", `/commits/-/${repo}/latest`)).commit_hash).toBe(
    newer.commit_hash,
  );
  await page.getByRole("button", { name: /^Commit my version on top of/ }).click();
  await page.getByText(/Saved stale-/).waitFor();
  const latest = await request<{ manifest: object }>("GET", `/commits/-/${repo}/latest`);
  expect(JSON.stringify(latest.manifest)).toContain("Hail {name}");
  // an unchanged prompt is not committed again
  await page.keyboard.press("Control+s");
  await page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText(/No changes since/).waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("edits messages by keyboard, with images, tools and a schema", async () => {
  const { page, context, errors } = await openEmpty();
  await field(page, 1).fill("first");
  await field(page, 2).fill("second");
  await page.keyboard.press("Alt+ArrowUp");
  await until(async () => (await field(page, 1).inputValue()) === "second");
  // the moved message keeps the focus
  await page.keyboard.press("Alt+ArrowDown");
  await until(async () => (await field(page, 2).inputValue()) === "second");
  await page.keyboard.press("Alt+Enter");
  await field(page, 3).waitFor();
  await page.keyboard.press("Alt+Delete");
  await field(page, 3).waitFor({ state: "detached" });

  const picture = { name: "teal.png", mimeType: "image/png", buffer: PICTURE };
  await page.getByLabel("Files for message 2").setInputFiles(picture);
  await page.getByRole("group", { name: "Message 2" }).getByRole("img", { name: "image" }).waitFor();
  await page.keyboard.press("Control+Enter");
  await columnOf(page, "A").getByText("saw image/png").waitFor();
  // pasted too
  await field(page, 2).evaluate(
    (element, bytes) => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(bytes)], "notes.pdf", { type: "application/pdf" }));
      element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    },
    [37, 80, 68, 70],
  );
  await page
    .getByRole("group", { name: "Message 2" })
    .getByText(/notes\.pdf/)
    .waitFor();
  await page.keyboard.press("Control+Enter");
  await columnOf(page, "A").getByText("saw image/png saw application/pdf").waitFor();

  await page.getByRole("button", { name: "Add tool", exact: true }).click();
  const tool = page.getByRole("group", { name: "Tool 1" });
  await tool.getByRole("textbox", { name: "Name" }).fill("find_shoes");
  await tool.getByRole("button", { name: "Add parameter" }).click();
  await tool.getByRole("textbox", { name: "Parameter", exact: true }).fill("colour");
  await page.getByRole("combobox", { name: "Tool choice" }).selectOption({ label: "Only find_shoes" });
  await page.keyboard.press("Control+Enter");
  const call = columnOf(page, "A").getByText("find_shoes").first();
  await call.waitFor();
  await until(() => models.calls.at(-1)?.body.tool_choice?.function?.name === "find_shoes");
  // the call continues the conversation
  await page.getByRole("button", { name: "Add answer of A to the messages" }).click();
  expect(await page.getByRole("textbox", { name: "Arguments of tool call 1" }).inputValue()).toContain("colour");
  await page.getByRole("button", { name: "Remove message 3" }).click();
  await page.getByRole("button", { name: "Remove tool 1" }).click();

  await page.getByRole("button", { name: "Add schema" }).click();
  await page.keyboard.press("Control+Enter");
  await columnOf(page, "A").getByText("sample").waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("an error says what to do, and a stopped answer cancels the call", async () => {
  const { page, context, errors } = await openEmpty("fail-401");
  await field(page, 2).fill("hi");
  await page.keyboard.press("Control+Enter");
  const alert = columnOf(page, "A").getByRole("alert");
  await alert.getByText("The provider rejected the key").waitFor();
  await alert.getByText("Check the connection's key in Settings › Models.").waitFor();
  expect(await alert.textContent()).not.toContain("sk-fake");
  await chooseModel(page, "A", "model-a");
  await alert.getByRole("button", { name: "Retry" }).click();
  await columnOf(page, "A").getByText("Hello from model-a: hi").waitFor();

  await chooseModel(page, "A", "stall");
  await page.keyboard.press("Control+Enter");
  await columnOf(page, "A").getByText("Hello", { exact: false }).waitFor();
  await page.keyboard.press("Control+.");
  await columnOf(page, "A").getByText("stopped", { exact: true }).waitFor();
  await models.calls.at(-1)!.aborted;

  // a variable without a value, and a broken template
  await field(page, 2).fill("Greet {name}");
  await page.keyboard.press("Control+Enter");
  await columnOf(page, "A").getByText("Enter a value for name.").waitFor();
  await field(page, 2).fill("Greet {name");
  await page.getByText("A “{” is not closed").first().waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("the draft survives a reload, is set aside for another one, and can be discarded", async () => {
  const { page, context, errors } = await openEmpty("model-b");
  await field(page, 1).fill("Keep {this}");
  await page.getByRole("textbox", { name: "this" }).fill("value");
  await page.keyboard.press("Alt+p");
  await field(page, 1).fill("Other");
  await page.reload();
  await until(async () => (await field(page, 1).inputValue()) === "Other");
  await page.getByRole("tab", { name: "Prompt of A" }).click();
  expect(await field(page, 1).inputValue()).toBe("Keep {this}");
  expect(await page.getByRole("textbox", { name: "this" }).inputValue()).toBe("value");
  await page.getByRole("button", { name: /^Model of B: model-b/ }).waitFor();
  const kept = await page.evaluate(() => JSON.stringify(localStorage));
  expect(kept).toContain("Keep {this}");
  expect(kept).not.toContain("sk-fake");

  const { callId } = await greet("Grace");
  await until(async () => (await fetch(`${platform.traceUrl}/runs/${callId}`)).ok);
  await page.goto(`${platform.url}/playground?run=${callId}`);
  await until(async () => (await page.getByRole("textbox", { name: "name" }).inputValue()) === "Grace");
  await page.getByRole("button", { name: "Restore it" }).click();
  await page.getByRole("tab", { name: "Prompt of A" }).click();
  await until(async () => (await field(page, 1).inputValue()) === "Keep {this}");
  await page.getByRole("button", { name: "Discard draft" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Discard draft" }).click();
  await until(async () => (await field(page, 1).inputValue()) === "");
  await page.reload();
  await field(page, 1).waitFor();
  expect(await field(page, 1).inputValue()).toBe("");
  expect(errors).toEqual([]);
  await context.close();
});

test("runs two columns over a dataset as experiments, and cancels them", async () => {
  const dataset = await client.createDataset(`names ${RUN}`);
  const names = Array.from({ length: 12 }, (_, n) => `name${n}`);
  await client.createExamples(names.map((name) => ({ dataset_id: dataset.id, inputs: { name } })));
  const { page, context, errors } = await openEmpty();
  await field(page, 1).fill("Be kind.");
  await field(page, 2).fill("Greet {name}");
  await page.keyboard.press("Alt+m");
  await chooseModel(page, "B", "model-b");
  await page.getByRole("button", { name: "Run over dataset" }).click();
  const dialog = page.getByRole("dialog");
  const choose = async () => {
    await dialog.getByRole("combobox", { name: "Dataset" }).click();
    await page.getByRole("option", { name: `names ${RUN} (12 examples)` }).click();
  };
  await choose();
  await dialog.getByRole("button", { name: "Run experiments" }).click();
  for (const letter of ["A", "B"]) {
    const experiment = dialog.getByRole("group", { name: `Experiment of ${letter}` });
    await experiment.getByText("10 of 10").waitFor();
    await experiment.getByText("success").waitFor();
  }
  await dialog.getByRole("link", { name: "Compare results" }).click();
  const table = page.getByRole("table", { name: "Experiment comparison" });
  await table
    .getByText(/^Hello from model-a: Greet name\d+$/)
    .first()
    .waitFor();
  await table
    .getByText(/^Hello from model-b: Greet name\d+$/)
    .first()
    .waitFor();

  // the draft is still there
  await page.goto(`${platform.url}/playground`);
  await chooseModel(page, "A", "stall");
  await page.getByRole("button", { name: "Remove column B" }).click();
  await page.getByRole("button", { name: "Run over dataset" }).click();
  await choose();
  await dialog.getByRole("button", { name: "Run experiments" }).click();
  await dialog.getByText("0 of 10").waitFor();
  // connections ask for their models, too
  await until(() => models.calls.some(({ body }) => body?.model === "stall"));
  await dialog.getByRole("button", { name: "Cancel experiments" }).click();
  await dialog.getByText("cancelled").waitFor();
  await models.calls.findLast(({ body }) => body?.model === "stall")!.aborted;
  expect(errors).toEqual([]);
  await context.close();
});

test("connections are created with a key that is never shown again, tested, and used by saved configurations", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/settings?tab=models`);
  await page.getByRole("button", { name: "New connection" }).click();
  const dialog = page.getByRole("dialog");
  const name = `Second ${RUN}`;
  await enter(dialog.getByRole("textbox", { name: "Name", exact: true }), name);
  await dialog.getByRole("combobox", { name: "Provider" }).click();
  await page.getByRole("option", { name: "OpenAI-compatible" }).click();
  await dialog.getByRole("textbox", { name: "Base URL" }).fill(`${models.url}/v1`);
  await dialog.locator("input[type=password]").fill("sk-second");
  await dialog.getByRole("textbox", { name: "Name of the workspace secret" }).fill(`SECOND_${RUN}`);
  await dialog.getByRole("combobox", { name: "Default model" }).fill("model-b");
  await dialog.getByRole("button", { name: "Create" }).click();
  const row = page.getByRole("table", { name: "Connections" }).getByRole("row").filter({ hasText: name });
  await row.getByRole("button", { name: `Test ${name}` }).click();
  await row.getByText(/model-b answered in/).waitFor();
  expect(models.calls.at(-1)!.headers.authorization).toBe("Bearer sk-second");
  await row.getByRole("button", { name: `Edit ${name}` }).click();
  await page.getByPlaceholder("Stored. Leave empty to keep it").waitFor();
  expect(await page.content()).not.toContain("sk-second");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });

  await page.getByRole("textbox", { name: "Limit per month (US dollars)" }).fill("100");
  await page.getByRole("button", { name: "Save budget" }).click();
  await page.getByText(/of \$100\.00 used in/).waitFor();
  await request("PUT", "/models/budget", { limit_usd: null });

  await page.goto(`${platform.url}/playground`);
  await page.getByRole("button", { name: /^Model of A/ }).click();
  await page.getByRole("combobox", { name: "Connection" }).click();
  await page.getByRole("option", { name }).click();
  await page.getByRole("textbox", { name: "temperature" }).fill("0.5");
  await page.getByRole("button", { name: "Save configuration" }).click();
  await enter(page.getByRole("textbox", { name: "Name of the configuration" }), `Careful ${RUN}`);
  await page.keyboard.press("Enter");
  await page.getByRole("combobox", { name: "Saved configuration" }).click();
  await page.getByRole("option", { name: `Careful ${RUN}` }).waitFor();
  await page.goto(`${platform.url}/settings?tab=models`);
  const saved = page.getByRole("table", { name: "Saved configurations" }).getByRole("row").filter({ hasText: RUN });
  expect(await saved.textContent()).toContain("0.5");
  await saved.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await saved.waitFor({ state: "detached" });
  await page.getByRole("button", { name: `Delete ${name}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: `Delete ${name}` }).waitFor({ state: "detached" });
  expect(errors).toEqual([]);
  await context.close();
});
