/** Comparison of experiments: averages in words, filters on differences, baseline, outputs, history, pairwise review. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { checkOpenPage, openBrowser, openPage, until } from "./browser.ts";
import { type SharedPlatform, sharedPlatform } from "./shared-platform.ts";

let platform: SharedPlatform;
let browser: Browser;
beforeAll(async () => {
  platform = await sharedPlatform("open");
  browser = await openBrowser();
}, 240_000);
afterAll(async () => {
  await browser?.close();
});

async function ask<T>(method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${platform.traceUrl}${path}`, {
    method,
    headers: { "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

/** Uploads an experiment with a score per example. */
async function upload(dataset: string, name: string, scores: number[], reply = name) {
  const at = (seconds: number) => new Date(Date.UTC(2026, 10, 1, 12, 0, 0) + seconds * 1000).toISOString();
  const { dataset: created, experiment } = await ask<{ dataset: { id: string }; experiment: { id: string } }>(
    "POST",
    "/datasets/upload-experiment",
    {
      experiment_name: `${name} ${dataset}`,
      experiment_start_time: at(0),
      experiment_end_time: at(scores.length + 1),
      dataset_name: dataset,
      results: scores.map((score, n) => ({
        inputs: { question: `Question ${n}` },
        expected_outputs: { answer: `Answer ${n}` },
        actual_outputs: { answer: `${reply} answers question ${n} politely` },
        evaluation_scores: [
          { key: "correctness", score },
          { key: "tone", score: 0.5 },
        ],
        start_time: at(n),
        end_time: at(n + 1),
      })),
    },
  );
  return { datasetId: created.id, id: experiment.id };
}

const unique = (name: string) => `${name} ${crypto.randomUUID().slice(0, 8)}`;

test("experiments are compared in words, filtered by their differences, and a baseline is set", async () => {
  const dataset = unique("compared");
  const first = await upload(dataset, "first", [1, 1, 1, 1, 0, 0, 0, 0, 1, 1]);
  const second = await upload(dataset, "second", [0, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
  const { page, context, errors } = await openPage(browser);
  const selected = `selectedSessions=${first.id},${second.id}`;
  await page.goto(`${platform.url}/datasets/${first.datasetId}?tab=compare&${selected}`);
  const card = page.getByRole("region", { name: /^Experiment second/ });
  await card.getByText(/^\+0\.3 \(95% interval .*\): no clear difference/).waitFor();
  await card.getByText(/\$|–/).first().waitFor();
  const table = page.getByRole("table", { name: "Experiment comparison" });
  const rows = table.locator("[data-row]");
  expect(await rows.first().innerText()).toMatch(/Question 0[\s\S]*correctness 0 ▼ −1/);

  // only what got worse, then what got better
  await card.getByRole("button", { name: "Only examples with worse correctness of second" }).click();
  await until(async () => (await rows.count()) === 1, 10_000);
  await card.getByRole("button", { name: "Only examples with better correctness of second" }).click();
  await until(async () => (await rows.count()) === 4, 10_000);
  expect(page.url()).toContain("only=better");
  await page.getByRole("button", { name: "Show all" }).click();
  await until(async () => (await rows.count()) === 10, 10_000);

  // outputs and their differences
  await rows.first().focus();
  await page.keyboard.press("Enter");
  const drawer = page.getByRole("dialog", { name: "Example" });
  await drawer.locator("ins").getByText("second").first().waitFor();
  await page.keyboard.press("Escape");
  await drawer.waitFor({ state: "detached" });

  // hidden columns are saved
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("checkbox", { name: "tone" }).click();
  await until(async () => !(await rows.first().innerText()).includes("tone"), 10_000);
  await page.keyboard.press("Escape");
  await page.reload();
  await rows.first().waitFor();
  expect(await rows.first().innerText()).not.toContain("tone");

  await card.getByRole("button", { name: "Set as baseline" }).click();
  await card.getByText("Baseline", { exact: true }).waitFor();
  await page
    .getByRole("region", { name: /^Experiment first/ })
    .getByText(/^−0\.3 \(95% interval/)
    .waitFor();
  expect(errors).toEqual([]);
  expect(await checkOpenPage(page, "comparison-filtered", "[data-row]")).toEqual([]);
  await context.close();
});

test("experiments of a dataset are drawn over time, and a point opens the comparison", async () => {
  const dataset = unique("history");
  const { datasetId } = await upload(dataset, "one", [1, 0, 1]);
  await upload(dataset, "two", [1, 1, 1]);
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/datasets/${datasetId}?tab=history`);
  const chart = page.getByRole("region", { name: "correctness" });
  await chart.locator(".uplot").waitFor();
  await chart.getByRole("button", { name: "Table" }).click();
  await chart.getByRole("table", { name: "correctness" }).waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("pairs are judged by keys alone, undone, and counted", async () => {
  const dataset = unique("pairs");
  const first = await upload(dataset, "first", [1, 1, 1], "Ada");
  const second = await upload(dataset, "second", [0, 1, 1], "Bob");
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/datasets/${first.datasetId}?tab=compare&selectedSessions=${first.id},${second.id}`);
  await page.getByRole("button", { name: "Review pairs" }).click();
  await page
    .getByRole("region", { name: "Answer 1" })
    .getByText(/answers question/)
    .first()
    .waitFor();
  const progress = page.getByRole("status").filter({ hasText: "of 3" });
  // prefers Bob wherever he is shown
  const preferBob = async () => {
    const left = await page.getByRole("region", { name: "Answer 1" }).innerText();
    await page.keyboard.press(left.includes("Bob") ? "1" : "2");
  };
  await preferBob();
  await progress.getByText("1 of 3").waitFor();
  await page.keyboard.press("u");
  await progress.getByText("0 of 3").waitFor();
  await page
    .getByRole("region", { name: "Answer 1" })
    .getByText(/answers question/)
    .first()
    .waitFor();
  await preferBob();
  await progress.getByText("1 of 3").waitFor();
  await preferBob();
  await progress.getByText("2 of 3").waitFor();
  await page.keyboard.press("0");
  await page.getByText("All pairs are judged").waitFor();
  await page.getByText(/second .* wins 83% \(95% interval/).waitFor();
  expect(errors).toEqual([]);
  expect(await checkOpenPage(page, "pairs-judged", "text=All pairs are judged")).toEqual([]);
  await context.close();
});
