/** Charts of a project show the data that was sent. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { checkPage, openBrowser, openPage } from "./browser.ts";
import { type SharedPlatform, sharedPlatform } from "./shared-platform.ts";

let platform: SharedPlatform;
let browser: Browser;
let projectId: string;

const NOW = Date.now();
const HOUR = 3_600_000;

async function trace(path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${platform.traceUrl}/api/v1${path}`, {
    method: body ? "POST" : "GET",
    headers: { "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return await response.json();
}

/** Builds a run as clients send it, `hours` ago. */
function run(hours: number, seconds: number, fields: Record<string, unknown>, parent?: Record<string, unknown>) {
  const id = crypto.randomUUID();
  const start = new Date(NOW - hours * HOUR).toISOString().replace("Z", "000Z");
  const segment = `${start.replace(/[-:.Z]/g, "")}Z${id}`;
  return {
    id,
    name: "agent",
    run_type: "chain",
    session_name: "monitored",
    start_time: start,
    end_time: new Date(NOW - hours * HOUR + seconds * 1000).toISOString().replace("Z", "000Z"),
    inputs: {},
    outputs: {},
    trace_id: parent?.["trace_id"] ?? id,
    ...(parent && { parent_run_id: parent["id"] }),
    dotted_order: parent ? `${String(parent["dotted_order"])}.${segment}` : segment,
    ...fields,
  };
}

beforeAll(async () => {
  platform = await sharedPlatform("open");
  browser = await openBrowser();
  const roots = Array.from({ length: 120 }, (_, n) =>
    run((n % 40) / 2, 1 + (n % 7), {
      ...(n % 10 === 0 && { error: "Error: no" }),
      extra: { metadata: { user_id: ["anna", "ben", "cleo"][n % 3] } },
    }),
  );
  const usage = { input_tokens: 700, output_tokens: 300, total_tokens: 1000, total_cost: 0.25 };
  const calls = roots.flatMap((parent, n) => [
    run((n % 40) / 2, 0.8, { name: "gpt", run_type: "llm", outputs: { usage_metadata: usage } }, parent),
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
async function sumColumn(page: import("playwright-core").Page, title: string): Promise<number> {
  const chart = page.getByRole("region", { name: title, exact: true });
  await chart.getByRole("button", { name: "Table" }).click();
  const cells = await chart.locator("tbody td:last-child").allTextContents();
  return cells.reduce((sum, text) => sum + Number(text.replace(/[$,]/g, "")), 0);
}

test("charts show the figures of the ingested runs", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(address());
  await page.getByRole("heading", { name: "LLM calls" }).first().waitFor();
  await expect.poll(() => page.locator(".uplot").count(), { timeout: 20_000 }).toBeGreaterThanOrEqual(8);
  expect(await sumColumn(page, "Traces")).toBe(120);
  expect(await sumColumn(page, "Cost")).toBeCloseTo(30);
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
  await chart.locator(".u-over").click();
  await page.waitForURL((url) => url.pathname === `/projects/${projectId}` && url.searchParams.has("from"));
  expect(errors).toEqual([]);
  await context.close();
});

test("the monitoring page fits at three widths in both schemes, and axe finds nothing serious", async () => {
  expect(await checkPage(browser, address(), "monitoring", ".uplot")).toEqual([]);
});
