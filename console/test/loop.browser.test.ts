/**
 * The loop from a bad answer to a better agent, as its people play it: a judge, a queue and rules are created, a rule
 * judges the answer and puts it in the queue, a reviewer corrects it, the correction becomes an example, the prompt is changed in the playground, an experiment
 * compares it, the gate passes, the tag moves, the agent answers rightly and monitoring shows it. Clicks and keys of
 * each step are counted and printed.
 *
 * What exists before (the connection, the prompt, the dataset, an evaluator in code) is created over the API.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";

import type { Client } from "langsmith";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { CAPITALS, findCapital, modelServer, type ModelServer } from "../../server/test/model-server.ts";
import { openBrowser, openPage, until } from "./browser.ts";
import { countInputs, endJob, enter, type Inputs } from "./count-inputs.ts";
import { connect, place, send } from "./seed-traces.ts";
import { type SharedPlatform, sharedPlatform } from "./shared-platform.ts";

/** Name of this file's objects on the shared platform. */
const RUN = crypto.randomUUID().slice(0, 8);
const PROJECT = `capitals ${RUN}`;
const PROMPT = `capitals-${RUN}`;
const DATASET = `Capitals ${RUN}`;
const JUDGE = `Right capital ${RUN}`;
const CODE = `Short answer ${RUN}`;
const QUEUE = `Wrong capitals ${RUN}`;

const PATIENT = { timeout: 90_000, interval: 50 };

// oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect to be there
type Json = any;

let platform: SharedPlatform;
let browser: Browser;
let models: ModelServer;
let client: Client;
let connectionId: string;
let datasetId: string;
let queueId: string;
beforeAll(async () => {
  [platform, browser, models] = await Promise.all([sharedPlatform("open"), openBrowser(), modelServer()]);
  // the judge knows the capitals
  models.script = (asked) => ({ reasoning: "Compared.", right: asked.includes(findCapital(asked)) });
  client = connect(platform.traceUrl);
  await request("POST", "/workspaces/current/secrets", [{ key: `KEY_${RUN}`, value: "sk-fake" }]);
  const connection = await request("POST", "/models/connections", {
    name: `Fake ${RUN}`,
    provider: "openai-compatible",
    settings: { base_url: `${models.url}/v1` },
    secrets: { api_key: `KEY_${RUN}` },
    default_model: "capitals",
  });
  connectionId = connection.id;
  await setUp();
}, 240_000);
afterAll(async () => {
  await browser?.close();
});

async function request(method: string, path: string, body?: unknown): Promise<Json> {
  const at = path.startsWith("/v1/") ? path : `/api/v1${path}`;
  const response = await fetch(`${platform.traceUrl}${at}`, {
    method,
    headers: { "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.status === 204 ? undefined : await response.json().catch(() => undefined);
}

const construct = (id: string, kwargs: object) => ({ lc: 1, type: "constructor", id: id.split("."), kwargs });
const message = (role: string, text: string, input_variables: string[]) =>
  construct(`langchain.prompts.chat.${role}MessagePromptTemplate`, {
    prompt: construct("langchain.prompts.prompt.PromptTemplate", {
      input_variables,
      template_format: "f-string",
      template: text,
    }),
  });

/** What exists before: a released prompt, a dataset, an evaluator in code, and the project of the agent. */
async function setUp(): Promise<void> {
  const manifest = construct("langchain.prompts.chat.ChatPromptTemplate", {
    input_variables: ["question"],
    messages: [message("System", "Answer fast.", []), message("Human", "{question}", ["question"])],
  });
  await request("POST", "/repos", { repo_handle: PROMPT, is_public: false });
  const { commit } = await request("POST", `/commits/-/${PROMPT}`, { manifest });
  await request("POST", `/repos/-/${PROMPT}/tags`, { tag_name: "production", commit_id: commit.id });
  ({ id: datasetId } = await client.createDataset(DATASET));
  await client.createExamples(
    Object.entries(CAPITALS)
      .filter(([country]) => country !== "France")
      .map(([country, answer]) => ({
        dataset_id: datasetId,
        inputs: { question: ask(country) },
        outputs: { answer },
      })),
  );
  await request("POST", "/v1/platform/evaluators", {
    name: CODE,
    type: "code",
    code_evaluator: {
      language: "python",
      code: "def perform_eval(run, example):\n    return {'short': len(str(run['outputs'])) < 100}",
    },
  });
  await request("POST", "/sessions", { name: PROJECT });
}

const ask = (country: string) => `What is the capital of ${country}?`;

/** An agent that pulls its prompt by tag, calls a model, and traces both. */
async function answer(question: string): Promise<{ text: string; id: string }> {
  const pulled = await client.pullPromptCommit(`${PROMPT}:production`, { skipCache: true });
  const { messages } = (pulled.manifest as Json).kwargs;
  const [system, human] = messages.map(({ kwargs }: Json) =>
    kwargs.prompt.kwargs.template.replace("{question}", question),
  );
  const sent = [
    { role: "system", content: system },
    { role: "user", content: human },
  ];
  const response = await fetch(`${models.url}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "capitals", messages: sent, stream: true }),
  });
  const text = [...(await response.text()).matchAll(/"content":"([^"]*)"/g)].map(([, part]) => part).join("");
  const [start, id] = [Date.now() - 500, crypto.randomUUID()];
  const more = { inputs: { question }, outputs: { answer: text } };
  const root = place({ id, name: "assistant", run_type: "chain", start, end: start + 400, more });
  const metadata = { lc_hub_owner: "-", lc_hub_repo: PROMPT, lc_hub_commit_hash: pulled.commit_hash };
  const call = place({
    id: crypto.randomUUID(),
    name: "ChatFake",
    run_type: "llm",
    start: start + 10,
    end: start + 300,
    parent: root,
    more: { inputs: { messages: [sent] }, outputs: { content: text }, extra: { metadata } },
  });
  await send(client, PROJECT, [root, call]);
  return { text, id };
}

/** Runs the command line as CI does. Returns its exit code and output. */
function heddle(...args: string[]): Promise<{ code: number; output: string }> {
  const program = join(import.meta.dirname, "../../cli/bin/heddle.js");
  return new Promise((resolve) => {
    const options = { env: { ...process.env, HEDDLE_URL: platform.traceUrl } };
    execFile(process.execPath, [program, ...args, "--url", platform.traceUrl], options, (error, out, err) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, output: out + err }),
    );
  });
}

const goTo = (page: Page, name: string) =>
  page
    .getByRole("navigation", { name: "Pages" })
    .getByRole("link", { name: new RegExp(`^${name}`) })
    .first()
    .click();

/** Chooses in a field that is searched by typing. */
async function choose(page: Page, field: Locator, name: string): Promise<void> {
  await field.click();
  await page.keyboard.insertText(name);
  await page.getByRole("option", { name }).click();
}

const counts: { step: string; clicks: number; keys: number }[] = [];
function step(name: string, inputs: Inputs): string[] {
  counts.push({ step: name, ...inputs });
  return endJob(`loop: ${name}`, inputs);
}

test("a bad answer becomes a better agent", async () => {
  const { page, context, errors } = await openPage(browser);
  // eight commands and judgements are waited for, on a machine that may be busy
  page.setDefaultTimeout(90_000);
  const inputs = await countInputs(context);
  const problems: string[] = [];
  await page.goto(platform.url);
  const started = Date.now();

  // a judge is written
  await goTo(page, "Evaluators");
  await page.getByRole("link", { name: "New evaluator" }).click();
  await enter(page.getByRole("textbox", { name: "Name", exact: true }), JUDGE);
  await page.getByRole("button", { name: /^Model of the judge/ }).click();
  await page.getByRole("combobox", { name: "Connection" }).click();
  await page.getByRole("option", { name: `Fake ${RUN}` }).click();
  await page.getByRole("combobox", { name: "Model", exact: true }).click();
  await page.keyboard.insertText("judge");
  await page.keyboard.press("Escape");
  await page.getByLabel("Feedback key").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText("right");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("heading", { name: JUDGE, level: 1 }).waitFor();
  problems.push(...step("write a judge", inputs));

  // a queue for wrong answers
  await goTo(page, "Annotation queues");
  await page.getByRole("button", { name: "New queue" }).click();
  const queueForm = page.getByRole("dialog", { name: "New annotation queue" });
  await enter(queueForm.getByLabel("Name"), QUEUE);
  await queueForm.getByLabel("Rubric", { exact: true }).click();
  await page.keyboard.insertText("confirmed");
  await page.keyboard.press("Enter");
  await choose(page, queueForm.getByRole("combobox", { name: "Dataset for corrections" }), DATASET);
  await queueForm.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { name: QUEUE, level: 1 }).waitFor();
  queueId = new URL(page.url()).pathname.split("/")[2]!;
  problems.push(...step("create a queue", inputs));

  // a rule that judges each answer, and one that puts the wrong ones in the queue
  await goTo(page, "Rules");
  for (const [name, filter, label, target] of [
    [`Judge ${RUN}`, null, "Evaluate with", JUDGE],
    [
      `Review ${RUN}`,
      'and(eq(is_root, true), eq(feedback_key, "right"), eq(feedback_score, 0))',
      "Add to annotation queue",
      QUEUE,
    ],
  ] as const) {
    await page.getByRole("button", { name: "New rule" }).click();
    const ruleForm = page.getByRole("dialog", { name: "New rule" });
    await enter(ruleForm.getByLabel("Name"), name);
    await choose(page, ruleForm.getByRole("combobox", { name: "Project" }), PROJECT);
    if (filter !== null) {
      await ruleForm.getByRole("textbox", { name: "Filter expression" }).first().click();
      await page.keyboard.press("Control+a");
      await page.keyboard.insertText(filter);
    }
    await choose(page, ruleForm.getByRole("combobox", { name: label }), target);
    await ruleForm.getByRole("button", { name: "Create" }).click();
    await page.getByRole("heading", { name, level: 1 }).waitFor();
    await goTo(page, "Rules");
  }
  problems.push(...step("create the rules", inputs));

  // the release that is in use, with its baseline
  const released = await heddle(
    ...[
      "experiment",
      "run",
      "--dataset",
      DATASET,
      "--target",
      `prompt:${PROMPT}@production`,
      "--name",
      `released ${RUN}`,
    ],
    ...["--connection", connectionId, "--evaluator", JUDGE, "--evaluator", CODE],
  );
  expect(released).toMatchObject({ code: 0 });
  expect(await heddle("experiment", "baseline", `released ${RUN}`)).toMatchObject({ code: 0 });

  // a bad answer is judged, and lands in the queue
  const began = performance.now();
  const bad = await answer(ask("France"));
  expect(bad.text).toBe("Lyon");
  await until(async () => (await request("GET", `/annotation-queues/${queueId}/runs`)).length === 1, PATIENT);
  const queued = performance.now() - began;

  // the reviewer confirms and corrects it
  await goTo(page, "Annotation queues");
  await page.getByRole("link", { name: QUEUE, exact: true }).click();
  await page.getByRole("link", { name: "Review", exact: true }).click();
  await page.getByRole("region", { name: "Output" }).getByText("Lyon").waitFor();
  await page.getByText("right", { exact: true }).first().waitFor();
  await page.keyboard.press("0");
  await page.keyboard.press("e");
  await page.keyboard.press("Control+a");
  await enter(page.getByLabel("Corrected output"), '{"answer": "Paris"}');
  await page.keyboard.press("Control+Enter");
  await page.getByText("Nothing left to review").waitFor();
  await until(async () => (await request("GET", `/examples?dataset=${datasetId}`)).length === 6);
  const examples = await request("GET", `/examples?dataset=${datasetId}`);
  expect(examples).toContainEqual(
    expect.objectContaining({
      inputs: { question: ask("France") },
      outputs: { answer: "Paris" },
      source_run_id: bad.id,
    }),
  );
  problems.push(...step("review and correct the answer", inputs));

  // the prompt is changed in the playground
  await goTo(page, "Prompts");
  await page.getByRole("link", { name: PROMPT, exact: true }).click();
  await page.getByRole("link", { name: "Open in playground" }).click();
  const text = page.getByRole("textbox", { name: "Text of message 1", exact: true });
  await until(async () => (await text.inputValue()) === "Answer fast.");
  await text.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText("Check before you answer.");
  await page.keyboard.press("Control+s");
  await enter(page.getByRole("textbox", { name: "Message", exact: true }), "Check answers");
  await page.keyboard.press("Enter");
  await page.getByText(new RegExp(`Saved ${PROMPT} as [0-9a-f]{8}`)).waitFor();
  problems.push(...step("change the prompt in the playground", inputs));

  // the experiment is run and compared with the baseline
  await goTo(page, "Prompts");
  await page.getByRole("link", { name: PROMPT, exact: true }).click();
  await page.getByRole("button", { name: "Run experiment" }).click();
  const dialog = page.getByRole("dialog", { name: "Run experiment" });
  await enter(dialog.getByRole("combobox", { name: "Dataset" }), DATASET);
  await page.getByRole("option", { name: new RegExp(`^${DATASET}`) }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await dialog.getByRole("combobox", { name: "Model connection" }).click();
  await page.getByRole("option", { name: `Fake ${RUN}` }).click();
  await dialog.getByLabel("Evaluators").click();
  await page.keyboard.insertText(RUN);
  for (const name of [JUDGE, CODE]) await page.getByRole("option", { name }).click();
  await page.keyboard.press("Escape");
  await dialog.getByRole("button", { name: "Run experiment" }).click();
  const results = page.getByRole("table", { name: "Results" });
  await page.getByRole("region", { name: "Progress" }).getByText("6 of 6 runs").waitFor({ timeout: 60_000 });
  await page.getByRole("heading", { name: "Results", exact: true }).waitFor({ timeout: 60_000 });
  expect(await results.innerText()).toMatch(/right\s+1\s+6 scores/);
  const experiment = await page.getByRole("heading", { level: 1 }).innerText();
  problems.push(...step("run the experiment", inputs));
  await page.getByRole("link", { name: "Compare" }).click();
  const card = page.getByRole("region", { name: `Experiment ${experiment}` });
  await card.getByText(/^\+1 \(95% interval .*\): probably better/).waitFor();
  problems.push(...step("compare it with the baseline", inputs));

  // the gate passes for it, and not for the release
  const gate = ["--gate", "right>=0.9", "--gate", "not_worse(right)", "--gate", "errors<=0"];
  const passed = await heddle("experiment", "gate", experiment, ...gate);
  expect(passed).toMatchObject({ code: 0 });
  expect(await heddle("experiment", "gate", `released ${RUN}`, "--gate", "right>=0.9")).toMatchObject({ code: 1 });

  // the tag moves
  await goTo(page, "Prompts");
  await page.getByRole("link", { name: PROMPT, exact: true }).click();
  await page.getByRole("tab", { name: "Tags" }).click();
  await page.getByRole("button", { name: "Move production" }).click();
  const mover = page.getByRole("dialog", { name: "Move production" });
  await mover.getByRole("combobox", { name: "Commit" }).click();
  await page.getByRole("option", { name: /Check answers/ }).click();
  await mover.getByRole("button", { name: "Move production" }).click();
  await page.getByText(/production is now [0-9a-f]{8}/).waitFor();
  problems.push(...step("move the tag", inputs));

  // the agent answers rightly, and monitoring shows it
  const good = await answer(ask("France"));
  expect(good.text).toBe("Paris");
  const scoreOf = async (id: string) =>
    (await request("GET", `/feedback?run=${id}&key=right`)).map(({ score }: Json) => Number(score));
  await until(async () => (await scoreOf(good.id))[0] === 1, PATIENT);
  expect(await scoreOf(bad.id)).toEqual([0]);
  expect(await request("GET", `/annotation-queues/${queueId}/runs`)).toHaveLength(1);
  await goTo(page, "Traces");
  await page.getByRole("link", { name: PROJECT, exact: true }).click();
  await page.getByRole("link", { name: "Monitoring" }).click();
  const feedback = page.getByRole("region", { name: "Feedback", exact: true });
  await feedback.getByRole("button", { name: "Table" }).click();
  // a wrong answer and a right one
  await feedback.getByRole("table").getByText("right").first().waitFor();
  await feedback.getByRole("table").getByText("0.50").first().waitFor();
  await page.getByRole("table", { name: "Prompt tags moved" }).getByText(`${PROMPT}:production`).first().waitFor();
  problems.push(...step("see it in monitoring", inputs));

  const total = counts.reduce((sum, { clicks, keys }) => ({ clicks: sum.clicks + clicks, keys: sum.keys + keys }), {
    clicks: 0,
    keys: 0,
  });
  console.info(
    [
      ...counts.map(({ step: name, clicks, keys }) => `${name}: ${clicks} clicks, ${keys} keys`),
      `the whole loop: ${total.clicks} clicks, ${total.keys} keys, ${Math.round((Date.now() - started) / 1000)} s;`,
      `judged and queued after ${Math.round(queued)} ms`,
    ].join("\n"),
  );
  expect([...errors, ...problems]).toEqual([]);
  await context.close();
}, 400_000);
