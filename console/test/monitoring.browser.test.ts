/** Charts of a project show the data that was sent. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { openBrowser, openPage, until } from "./browser.ts";
import { type SharedPlatform, sharedPlatform } from "./shared-platform.ts";
import { askTraces, timedRun } from "./timed-runs.ts";

let platform: SharedPlatform;
let browser: Browser;
let projectId: string;

const NOW = Date.now();
const HOUR = 3_600_000;

const trace = (path: string, body?: object) => askTraces(platform, path, body);

/** Builds a run that began `hours` ago. */
const run = (hours: number, seconds: number, fields: Record<string, unknown>, parent?: Record<string, unknown>) =>
  timedRun("monitored", NOW - hours * HOUR, seconds, fields, parent);

beforeAll(async () => {
  platform = await sharedPlatform("open");
  browser = await openBrowser();
  const roots = Array.from({ length: 120 }, (_, n) =>
    run((n % 40) / 2, 1 + (n % 7), {
      ...(n % 10 === 0 && { error: n % 20 === 0 ? "TimeoutError: slow" : "ValueError('no')" }),
      extra: { metadata: { user_id: ["anna", "ben", "cleo"][n % 3] } },
    }),
  );
  const usage = { input_tokens: 700, output_tokens: 300, total_tokens: 1000, total_cost: 0.25 };
  const calls = roots.flatMap((parent, n) => [
    run(
      (n % 40) / 2,
      0.8,
      {
        name: "gpt",
        run_type: "llm",
        outputs: { usage_metadata: usage },
        extra: { metadata: { ls_model_name: n % 3 === 0 ? "small-1" : "large-1" } },
      },
      parent,
    ),
    run((n % 40) / 2, 0.2, { name: ["search", "weather"][n % 2], run_type: "tool" }, parent),
  ]);
  await trace("/runs/batch", { post: [...roots, ...calls] });
  for (const { id } of roots.slice(0, 20)) await trace("/feedback", { run_id: id, key: "helpful", score: 0.5 });
  const [project] = (await trace("/sessions?name=monitored")) as { id: string }[];
  projectId = project!.id;
}, 180_000);
afterAll(async () => {
  await browser?.close();
});

const address = (search = "") => `${platform.url}/projects/${projectId}/monitoring${search}`;

/** Sums a chart's column, read from its table. */
async function sumColumn(page: Page, title: string, opens = true): Promise<number> {
  const chart = page.getByRole("region", { name: title, exact: true });
  if (opens) await chart.getByRole("button", { name: "Table" }).click();
  const cells = await chart.locator("tbody td:last-child").allTextContents();
  return cells.reduce((sum, text) => sum + Number(text.replace(/[$,]/g, "")), 0);
}

test("charts show the statistics of the ingested runs", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(address());
  await page.getByRole("heading", { name: "LLM calls" }).first().waitFor();
  await expect.poll(() => page.locator(".uplot").count(), { timeout: 20_000 }).toBeGreaterThanOrEqual(8);
  expect(await sumColumn(page, "Traces")).toBe(120);
  expect(await sumColumn(page, "Cost")).toBeCloseTo(30);
  await page.getByRole("group", { name: "Traces overall" }).getByText("120", { exact: true }).waitFor();
  await page.getByRole("group", { name: "Cost overall" }).getByText("$30.00", { exact: true }).waitFor();
  const feedback = page.getByRole("region", { name: "Feedback", exact: true });
  await feedback.getByRole("button", { name: "Table" }).click();
  expect(new Set(await feedback.locator("tbody td:last-child").allTextContents())).toEqual(new Set(["0.50"]));
  expect(errors).toEqual([]);
  await context.close();
});

test("groups charts by metadata, keeps the grouping in the address, and links a chart to its runs", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(address("?last=24h"));
  await page.getByRole("combobox", { name: "Group by" }).click();
  await page.getByRole("option", { name: "Group by: metadata" }).click();
  const key = page.getByRole("combobox", { name: "Metadata key" });
  await key.fill("user_id");
  await key.press("Enter");
  const chart = page.getByRole("region", { name: "Traces", exact: true });
  for (const user of ["anna", "ben", "cleo"]) await chart.getByText(user).waitFor();
  expect(new URL(page.url()).searchParams.get("group")).toBe("metadata:user_id");
  await page.reload();
  await chart.getByText("anna").waitFor();
  await chart.locator(".u-over").waitFor();
  await chart.locator(".u-over").click();
  await page.waitForURL((url) => url.pathname === `/projects/${projectId}` && url.searchParams.has("from"));
  expect(errors).toEqual([]);
  await context.close();
});

test("shows costs by model, errors by kind and three percentiles", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(address());
  const columns = async (title: string) => {
    const chart = page.getByRole("region", { name: title, exact: true });
    await chart.getByRole("button", { name: "Table" }).click();
    return (await chart.getByRole("columnheader").allInnerTexts()).slice(1);
  };
  expect(await columns("Cost by model")).toEqual(["large-1", "small-1"]);
  expect(await columns("Errors by kind")).toEqual(["TimeoutError", "ValueError"]);
  expect(await columns("Latency")).toEqual(["P50", "P95", "P99"]);
  expect(await sumColumn(page, "Errors by kind", false)).toBe(6);
  // the keyboard reaches the runs of a moment, too
  const chart = page.getByRole("region", { name: "Errors by kind", exact: true });
  await chart
    .getByRole("button", { name: /20\d\d/ })
    .first()
    .press("Enter");
  await page.waitForURL((url) => url.searchParams.get("filter") === 'eq(status, "error")');
  expect(errors).toEqual([]);
  await context.close();
});

test("dragging across a chart zooms into the range, and back returns to the wider one", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(address("?last=24h"));
  const plot = page.getByRole("region", { name: "Traces", exact: true }).locator(".u-over");
  await plot.waitFor();
  const { x, y, width, height } = (await plot.boundingBox())!;
  await page.mouse.move(x + width * 0.5, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.75, y + height / 2, { steps: 4 });
  await page.mouse.up();
  await page.waitForURL((url) => url.searchParams.has("from"));
  const { searchParams } = new URL(page.url());
  const hours = (Date.parse(searchParams.get("to")!) - Date.parse(searchParams.get("from")!)) / HOUR;
  // the axis extends a little beyond the range
  expect(hours).toBeGreaterThan(5);
  expect(hours).toBeLessThan(7.5);
  // the chart shows the wider range until the narrower one has been read
  expect(await sumColumn(page, "Traces")).toBeGreaterThan(20);
  await expect.poll(() => sumColumn(page, "Traces", false)).toBeLessThan(60);
  expect(await sumColumn(page, "Traces", false)).toBeGreaterThan(20);
  await page.goBack();
  await page.waitForURL(/last=24h/);
  expect(errors).toEqual([]);
  await context.close();
});

test("compares with the previous period, and draws the only point of a project", async () => {
  const { page, context, errors } = await openPage(browser);
  const old = Array.from({ length: 7 }, () => run(30, 1, { session_name: "compared" }));
  await trace("/runs/batch", { post: [...old, run(6, 1, { session_name: "compared" })] });
  const [project] = (await trace("/sessions?name=compared")) as { id: string }[];
  await page.goto(`${platform.url}/projects/${project!.id}/monitoring?last=24h`);
  const latency = page.getByRole("region", { name: "Latency", exact: true });
  await latency.locator("canvas").waitFor();
  // something on the canvas besides its gray lines and labels
  await until(() =>
    latency.locator("canvas").evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
      for (let at = 0; at < data.length; at += 4) {
        const [red, green, blue, alpha] = data.slice(at, at + 4) as unknown as [number, number, number, number];
        if (alpha > 200 && Math.max(red, green, blue) - Math.min(red, green, blue) > 80) return true;
      }
      return false;
    }),
  );
  await page.getByRole("switch", { name: "Compare with previous period" }).check({ force: true });
  await page.waitForURL(/before=true/);
  const traces = page.getByRole("region", { name: "Traces", exact: true });
  await traces.getByText("Traces, previous").waitFor();
  expect(await sumColumn(page, "Traces")).toBe(7);
  expect(errors).toEqual([]);
  await context.close();
});
