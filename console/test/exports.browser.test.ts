/** Exports into a real S3 store, created and watched as a user would; and the contents of the queue. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { startTestS3, type TestS3 } from "../../server/test/s3.ts";
import { checkOpenPage, checkPage, openBrowser, openPage } from "./browser.ts";
import { type SharedPlatform, sharedPlatform } from "./shared-platform.ts";

let platform: SharedPlatform;
let browser: Browser;
let s3: TestS3;

const DAY = 86_400_000;
const MIDNIGHT = Math.floor(Date.now() / DAY) * DAY;

beforeAll(async () => {
  s3 = await startTestS3();
  s3.createBucket("exports");
  platform = await sharedPlatform("open");
  browser = await openBrowser();
  await sendRuns(500);
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await s3?.stop();
});

/** Sends runs within the two days before today. */
async function sendRuns(max: number): Promise<void> {
  const post = Array.from({ length: max }, (_, n) => {
    const id = crypto.randomUUID();
    const start = new Date(MIDNIGHT - 2 * DAY + n * 300_000).toISOString().replace("Z", "000Z");
    return {
      id,
      trace_id: id,
      name: "exported",
      run_type: n % 5 === 0 ? "llm" : "chain",
      session_name: "to export",
      start_time: start,
      end_time: start,
      inputs: { n },
      outputs: {},
      dotted_order: `${start.replace(/[-:.Z]/g, "")}Z${id}`,
    };
  });
  const response = await fetch(`${platform.traceUrl}/api/v1/runs/batch`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ post }),
  });
  expect(response.status).toBe(202);
}

async function fillDestination(page: Page, secret: string, key: string): Promise<void> {
  await page.getByLabel("Name").fill("Our bucket");
  await page.getByLabel("Bucket").fill("exports");
  await page.getByLabel("Prefix").fill("heddle");
  await page.getByLabel("Endpoint").fill(s3.endpoint);
  await page.getByLabel("Access key ID").fill(key);
  await page.getByLabel("Secret access key").fill(secret);
}

test("creates a destination after a test, tests it again and replaces its credentials", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/exports`);
  await page.getByRole("link", { name: "New destination" }).click();
  const key = s3.createKey();
  await fillDestination(page, "wrong", key.access_key_id);
  await page.getByRole("button", { name: "Test and create" }).click();
  await page.getByRole("alert").getByText("Could not create the destination").waitFor();
  await page.getByLabel("Secret access key").fill(key.secret_access_key);
  await page.getByRole("button", { name: "Test and create" }).click();
  const row = page.getByRole("row", { name: /Our bucket/ });
  // from the width where the table stops being a list of cards, up to that of most screens
  for (const width of [1280, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    for (const name of ["Test", "Edit credentials", "Delete"]) {
      const label = row.getByRole("button", { name }).getByText(name);
      expect([name, width, await label.evaluate((text) => text.scrollWidth - text.clientWidth)]).toEqual([
        name,
        width,
        0,
      ]);
    }
  }
  await row.getByRole("button", { name: "Test" }).click();
  await page.getByText("Test passed").waitFor();
  await row.getByRole("button", { name: "Edit credentials" }).click();
  const second = s3.createKey();
  await page.getByLabel("Access key ID").fill(second.access_key_id);
  await page.getByLabel("Secret access key").fill(second.secret_access_key);
  await page.getByRole("button", { name: "Test and save" }).click();
  await page.getByText("use the new credentials").waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("previews an export, creates it and shows its progress to the end", async () => {
  const post = async (path: string, body: object) => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(platform.traceUrl + path, { method: "POST", headers, body: JSON.stringify(body) });
    return (await response.json()) as { id: string };
  };
  const { id: dataset } = await post("/api/v1/datasets", { name: "of an experiment that sorts first" });
  await post("/api/v1/sessions", { name: "!an experiment", reference_dataset_id: dataset });
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/exports?create=true`);
  // experiments are included, after the projects
  await page.getByText(/matching rows/).waitFor();
  expect(await page.getByRole("combobox", { name: "Project" }).inputValue()).not.toBe("!an experiment");
  await page.getByRole("combobox", { name: "Project" }).click();
  await page.getByRole("option", { name: "to export" }).click();
  await page.getByText("500 matching rows").waitFor();
  await page.getByLabel("Filter").fill('eq(run_type, "llm"');
  await page.getByText(/Invalid filter/).waitFor();
  await page.getByLabel("Filter").fill('eq(run_type, "llm")');
  await page.getByText("100 matching rows").waitFor();
  await page.getByRole("button", { name: "Create export" }).click();
  await page.getByRole("heading", { name: "Export of to export" }).waitFor();
  await page.locator("#main").getByText("COMPLETED").first().waitFor({ timeout: 60_000 });
  await page.getByText("100", { exact: true }).first().waitFor();
  const days = page.getByRole("region", { name: "Days" });
  await days
    .getByRole("button")
    .filter({ hasText: /Completed[1-9]\d* rows/ })
    .first()
    .click();
  await days
    .getByText(/\.parquet$/)
    .first()
    .waitFor();
  const verification = page.getByRole("region", { name: "Verification" });
  await verification.getByRole("button", { name: "Verify files in the bucket" }).click();
  await verification.getByText("The export is complete and unaltered").waitFor();
  await verification.getByText(/^100 rows in \d+ files?, /).waitFor();
  expect(await checkOpenPage(page, "export", "text=Completed")).toEqual([]);
  // a file that was altered
  const [file] = (await s3.keys("exports", "heddle/")).filter((key) => key.endsWith(".parquet"));
  await s3.write("exports", file!, "altered");
  await verification.getByRole("button", { name: "Verify files in the bucket" }).click();
  await verification.getByText(/differs from what was written/).waitFor();
  expect(await s3.keys("exports", "heddle/")).toContainEqual(expect.stringMatching(/_SUCCESS$/));
  expect(errors).toEqual([]);
  await context.close();
});

test("shows the next windows of a schedule, and stops the schedule", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/exports?create=true`);
  await page.getByText("Recurring").click();
  await page.getByRole("button", { name: "Create export" }).click();
  const next = page.getByRole("region", { name: "Next windows" }).first();
  await next.locator("tbody tr").first().waitFor();
  expect(await next.locator("tbody tr").count()).toBe(3);
  await page.getByRole("button", { name: "Stop schedule" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop schedule" }).click();
  await page.locator("#main").getByText("CANCELLED").first().waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("shows why a queued run waits, and cancels it", async () => {
  const ask = async (path: string, body: object) => {
    const response = await fetch(platform.agentUrl + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return (await response.json()) as { thread_id: string; run_id: string };
  };
  const cancel = ({ thread_id: id, run_id: run }: { thread_id: string; run_id: string }) =>
    fetch(`${platform.agentUrl}/threads/${id}/runs/${run}/cancel`, { method: "POST" });
  const { thread_id: thread } = await ask("/threads", {});
  const body = { assistant_id: "slow", input: { steps: 100, ms: 3000, label: "x" } };
  const first = await ask(`/threads/${thread}/runs`, body);
  const second = await ask(`/threads/${thread}/runs`, body);
  const later = await ask("/runs", { ...body, after_seconds: 3600 });
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/a/local/queue`);
  const waiting = page.getByRole("region", { name: "Waiting runs" }).first();
  await waiting
    .getByRole("row")
    .filter({ hasText: second.run_id.slice(-8) })
    .getByText("Thread is busy with")
    .waitFor();
  await waiting
    .getByRole("row")
    .filter({ hasText: later.run_id.slice(-8) })
    .getByText("Scheduled to start")
    .waitFor();
  const link = waiting.getByRole("link", { name: `slow ${second.run_id.slice(-8)}` });
  expect(await link.getAttribute("href")).toBe(`/a/local/threads/${thread}/runs/${second.run_id}`);
  await waiting
    .getByRole("row")
    .filter({ hasText: second.run_id.slice(-8) })
    .getByRole("button", { name: "Cancel" })
    .click();
  await page.getByRole("button", { name: "Cancel run" }).click();
  await waiting.getByText(second.run_id.slice(-8)).waitFor({ state: "detached" });
  expect(await checkPage(browser, `${platform.url}/a/local/queue`, "queue", `text=${later.run_id.slice(-8)}`)).toEqual(
    [],
  );
  for (const run of [first, later]) await cancel(run);
  expect(errors).toEqual([]);
  await context.close();
});

test("the export pages fit at three widths in both schemes, and axe finds nothing serious", async () => {
  const problems = [
    ...(await checkPage(browser, `${platform.url}/exports`, "exports", "text=to export")),
    ...(await checkPage(browser, `${platform.url}/exports?create=true`, "export-form", "text=matching rows")),
    ...(await checkPage(browser, `${platform.url}/exports/destinations`, "destinations", "text=Our bucket")),
  ];
  expect(problems).toEqual([]);
});
