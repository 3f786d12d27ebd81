/** Reviewing by keys: a queue's items, and the runs of a filtered list. Clicks and keys are counted. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { openBrowser, openPage, until } from "./browser.ts";
import { countInputs, enter, type Inputs } from "./count-inputs.ts";
import { connect, place, seedQueue, send } from "./seed-traces.ts";
import { type SharedPlatform, sharedPlatform } from "./shared-platform.ts";

const PROJECT = "Replies to review";
const RUNS = 12;

let platform: SharedPlatform;
let browser: Browser;
let projectId: string;
let datasetId: string;
const ids = Array.from({ length: RUNS }, () => crypto.randomUUID());
beforeAll(async () => {
  platform = await sharedPlatform("open");
  browser = await openBrowser();
  const client = connect(platform.traceUrl);
  const start = Date.now() - 60_000;
  const runs = ids.map((id, i) => {
    const more = { inputs: { question: `Question ${i}` }, outputs: { answer: `Answer ${i}` } };
    return place({
      id,
      name: `reply ${i}`,
      run_type: "chain",
      start: start + i * 1000,
      end: start + i * 1000 + 500,
      more,
    });
  });
  await send(client, PROJECT, runs);
  ({ id: projectId } = await client.readProject({ projectName: PROJECT }));
  ({ id: datasetId } = await client.createDataset(`Corrections ${crypto.randomUUID()}`));
}, 180_000);
afterAll(async () => {
  await browser?.close();
});

const read = async (path: string) => (await fetch(`${platform.traceUrl}${path}`)).json();
const feedbackOf = (key: string): Promise<{ run_id: string; score: number; comment: string | null }[]> =>
  read(`/feedback?session=${projectId}&key=${key}&limit=100`) as never;

async function counted(path: string, work: (page: Page, inputs: Inputs) => Promise<void>): Promise<string[]> {
  const { page, context, errors } = await openPage(browser);
  const inputs = await countInputs(context);
  await page.goto(platform.url + path);
  await work(page, inputs);
  await context.close();
  return errors;
}

const output = (page: Page, n: number) =>
  page.getByRole("region", { name: "Output" }).getByText(`Answer ${n}`, { exact: true }).waitFor();

test("ten runs of a filtered list are rated by a key each, without a queue", async () => {
  const errors = await counted(`/projects/${projectId}`, async (page, inputs) => {
    await page.getByRole("link", { name: "Review next" }).click();
    for (let i = 0; i < 10; i++) {
      // newest first
      await output(page, RUNS - 1 - i);
      await page.keyboard.press(i % 3 === 0 ? "0" : "1");
    }
    await output(page, 1);
    expect(inputs.clicks + inputs.keys).toBeLessThanOrEqual(11);
    await page.keyboard.press("k");
    await output(page, 2);
    await page.keyboard.press("j");
    await page.keyboard.press("c");
    await enter(page.getByLabel("Comment"), "too short");
    await page.keyboard.press("Enter");
    await output(page, 0);
  });
  expect(errors).toEqual([]);
  await until(async () => (await feedbackOf("user_score")).length === 10);
  const scores = new Map((await feedbackOf("user_score")).map((entry) => [entry.run_id, entry.score]));
  expect(
    ids
      .slice(2)
      .toReversed()
      .map((id) => scores.get(id)),
  ).toEqual([0, 1, 1, 0, 1, 1, 0, 1, 1, 0]);
  await until(async () => (await feedbackOf("note")).some(({ comment }) => comment === "too short"));
});

test("a queue is reviewed by two keys a run; a skipped run comes back, a correction becomes an example", async () => {
  const queue = await seedQueue(platform.traceUrl, "By keys", ids.slice(0, 4), datasetId);
  const errors = await counted(`/annotation-queues/${queue}/review`, async (page, inputs) => {
    await output(page, 0);
    await page.getByText("0 of 4").waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("Answer the required fields first: correct.").waitFor();
    await page.keyboard.press("s");
    await output(page, 1);
    Object.assign(inputs, { clicks: 0, keys: 0 });
    for (const n of [1, 2]) {
      await output(page, n);
      await page.keyboard.press("1");
      await page.keyboard.press("Enter");
    }
    await output(page, 3);
    expect(inputs).toEqual({ clicks: 0, keys: 4 });
    await page.keyboard.press("0");
    await page.keyboard.press("e");
    await page.keyboard.press("Control+a");
    await enter(page.getByLabel("Corrected output"), '{"answer": "Better"}');
    await page.keyboard.press("Control+Enter");
    await output(page, 0);
    await page.getByText("3 of 4").waitFor();
    await page.keyboard.press("1");
    await page.keyboard.press("Enter");
    await page.getByText("Nothing left to review").waitFor();
  });
  expect(errors).toEqual([]);
  expect(await read(`/annotation-queues/${queue}/progress`)).toMatchObject({ completed: 4, needs_my_review: 0 });
  const given = new Map((await feedbackOf("correct")).map((entry) => [entry.run_id, entry.score]));
  expect(ids.slice(0, 4).map((id) => given.get(id))).toEqual([1, 1, 1, 0]);
  expect(await read(`/examples?dataset=${datasetId}`)).toMatchObject([
    { inputs: { question: "Question 3" }, outputs: { answer: "Better" }, source_run_id: ids[3] },
  ]);
});

test("a queue is created from the list of runs, with all that match", async () => {
  const errors = await counted(`/projects/${projectId}`, async (page) => {
    await page.getByRole("button", { name: "Add all to queue" }).click();
    const dialog = page.getByRole("dialog", { name: "Add to queue" });
    await dialog.getByText("New", { exact: true }).click();
    await enter(dialog.getByLabel("Name"), "All replies");
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("heading", { name: "All replies" }).waitFor();
    await page.getByRole("group", { name: "Progress" }).getByText(`${RUNS} runs`).waitFor();
  });
  expect(errors).toEqual([]);
});

const post = async (path: string, body: object): Promise<Record<string, never>> => {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(`${platform.traceUrl}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  expect({ path, status: response.status }).toMatchObject({ path, status: expect.closeTo(200, -1) });
  return (await response.json()) as Record<string, never>;
};

test("ten runs of a queue are reviewed by at most 25 keys, without a click, within five seconds each", async () => {
  const queue = await seedQueue(platform.traceUrl, "Ten by keys", ids.slice(0, 10), datasetId);
  const errors = await counted(`/annotation-queues/${queue}/review`, async (page, inputs) => {
    await output(page, 0);
    Object.assign(inputs, { clicks: 0, keys: 0 });
    const started = Date.now();
    for (let n = 0; n < 10; n++) {
      await output(page, n);
      await page.keyboard.press(n % 2 === 0 ? "1" : "0");
      await page.keyboard.press("Enter");
    }
    await page.getByText("Nothing left to review").waitFor();
    expect(inputs.clicks).toBe(0);
    expect(inputs.keys).toBeLessThanOrEqual(25);
    expect(Date.now() - started).toBeLessThan(50_000);
  });
  expect(errors).toEqual([]);
  expect(await read(`/annotation-queues/${queue}/progress`)).toMatchObject({ completed: 10 });
});

test("a key is shown when the answer to another one asks for it, and the server's reasons are shown", async () => {
  const rubric_items = [
    { feedback_key: "fits", is_required: true },
    { feedback_key: "reason", visible_if: { join: "all", rules: [{ key: "fits", op: "is", values: [0] }] } },
    { feedback_key: "code", regex_validator: "^[A-Z]{3}$" },
  ];
  for (const key of ["reason", "code"]) {
    await post("/feedback-configs", { feedback_key: key, feedback_config: { type: "freeform" } });
  }
  const { id: queue } = await post("/annotation-queues", { name: "Conditions", rubric_items });
  await post(`/annotation-queues/${String(queue)}/runs`, ids.slice(0, 1));
  const errors = await counted(`/annotation-queues/${String(queue)}/review`, async (page) => {
    await output(page, 0);
    const reason = page.getByRole("textbox", { name: "reason" });
    await page.keyboard.press("1");
    expect(await reason.count()).toBe(0);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("0");
    await reason.fill("too vague");
    await page.getByRole("textbox", { name: "code" }).fill("abc");
    await page.getByRole("button", { name: "Submit" }).click();
    await page.getByText('"code" must match').waitFor();
    await page.getByRole("textbox", { name: "code" }).fill("ABC");
    await page.getByRole("button", { name: "Submit" }).click();
    await page.getByText("Nothing left to review").waitFor();
  });
  // the browser reports the rejected request
  expect(errors.filter((error) => !error.includes("422"))).toEqual([]);
  const feedback = await read(`/feedback?run=${ids[0]}&key=reason&key=code`);
  expect(feedback).toHaveLength(2);
});

test("pairs are judged side by side by two keys", async () => {
  const { id: queue } = await post("/annotation-queues", { name: "Pairs", queue_type: "pairwise" });
  const pairs = [
    { run_id: ids[4], other_run_id: ids[5] },
    { run_id: ids[6], other_run_id: ids[7] },
  ];
  await post(`/annotation-queues/${String(queue)}/pairs`, { pairs });
  const errors = await counted(`/annotation-queues/${String(queue)}/review`, async (page, inputs) => {
    const left = page.getByRole("region", { name: "Left", exact: true });
    await left.getByText(/Answer [45]/).waitFor();
    Object.assign(inputs, { clicks: 0, keys: 0 });
    await page.keyboard.press("1");
    await page.keyboard.press("Enter");
    await left.getByText(/Answer [67]/).waitFor();
    await page.keyboard.press("0");
    await page.keyboard.press("Enter");
    await page.getByText("Nothing left to review").waitFor();
    expect(inputs).toEqual({ clicks: 0, keys: 4 });
  });
  expect(errors).toEqual([]);
  const better = await feedbackOf("better");
  const scores = new Map(better.map((entry) => [entry.run_id, entry.score]));
  expect([scores.get(ids[4]!), scores.get(ids[5]!)].toSorted()).toEqual([0, 1]);
  expect([scores.get(ids[6]!), scores.get(ids[7]!)]).toEqual([0.5, 0.5]);
});
