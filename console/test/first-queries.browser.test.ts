/** When pages send their first queries: once, as early as they may. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { openBrowser, openPage, until } from "./browser.ts";
import type { Seeded } from "./seed-traces.ts";
import { type SharedPlatform, sharedPlatform, sharedTraces } from "./shared-platform.ts";

let platform: SharedPlatform;
let browser: Browser;
let seeded: Seeded;
beforeAll(async () => {
  platform = await sharedPlatform("open");
  browser = await openBrowser();
  seeded = await sharedTraces(platform);
}, 180_000);
afterAll(async () => {
  await browser?.close();
});

const CODE = "/assets/projects._projectId.index-";
const rows = (page: Page) => page.getByRole("table", { name: "Runs" }).locator("[data-row]");
const projectLink = (page: Page) => page.locator(`[data-row] a[href*="${seeded.projectId}"]`);

/** Records the paths of all requests; returns how many had a path that begins so. */
function countRequests(page: Page): (path: string) => number {
  const paths: string[] = [];
  page.on("request", (request) => paths.push(new URL(request.url()).pathname));
  return (path) => paths.filter((sent) => sent.startsWith(path)).length;
}

const LIST = "/api/trace/api/v1/runs/query";
const project = () => `/api/trace/api/v1/sessions/${seeded.projectId}`;

test("a project's page sends each first query once, before its code has arrived", async () => {
  const { page, context, errors } = await openPage(browser);
  const sent = countRequests(page);
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route(`**${CODE}*.js`, async (route) => {
    await held;
    await route.continue();
  });
  // not live: the newest runs would be read again
  await page.goto(`${platform.url}/projects/${seeded.projectId}?live=false`);
  await until(() => Promise.resolve(sent(LIST) === 1 && sent(project()) === 2));
  expect(await rows(page).count()).toBe(0);
  release();
  await rows(page).first().waitFor();
  await page.waitForLoadState("networkidle");
  // the project itself, and its views
  expect([sent(LIST), sent(project())]).toEqual([1, 2]);
  expect(errors).toEqual([]);
  await context.close();
});

test("a link that is pointed at sends the queries of its page, and the click none", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/projects`);
  await projectLink(page).waitFor();
  const sent = countRequests(page);
  await projectLink(page).hover();
  await until(() => Promise.resolve(sent(LIST) === 1));
  await projectLink(page).click();
  await rows(page).first().waitFor();
  expect([sent(LIST), sent(project())]).toEqual([1, 2]);
  expect(errors).toEqual([]);
  await context.close();
});

test("with an API key, which has rate limits, only a click sends queries", async () => {
  const response = await fetch(`${platform.traceUrl}/api/v1/api-key`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ description: "first queries" }),
  });
  const { key } = (await response.json()) as { key: string };
  const { page, context, errors } = await openPage(browser);
  await context.addInitScript((text) => sessionStorage.setItem("heddle.key", text), key);
  await page.goto(`${platform.url}/projects`);
  await projectLink(page).waitFor();
  const sent = countRequests(page);
  await projectLink(page).hover();
  // queries would have been sent before
  await until(() => Promise.resolve(sent(CODE) === 1));
  expect(sent(LIST)).toBe(0);
  await projectLink(page).click();
  await rows(page).first().waitFor();
  expect(sent(LIST)).toBe(1);
  expect(errors).toEqual([]);
  await context.close();
});

test("no query is sent for a reader who is not signed in", async () => {
  const { page, context } = await openPage(browser);
  const sent = countRequests(page);
  await page.route("**/api/trace/auth/public", (route) => route.fulfill({ status: 401, json: { detail: "Sign in" } }));
  await page.goto(`${platform.url}/projects/${seeded.projectId}`);
  await page.waitForURL(/\/sign-in/);
  expect([sent(LIST), sent(project())]).toEqual([0, 0]);
  await context.close();
});

test("a page whose first answer is late is shown without it", async () => {
  const { page, context } = await openPage(browser);
  await page.route(`**${LIST}`, () => {});
  await page.goto(`${platform.url}/projects/${seeded.projectId}`);
  await page.getByRole("tab", { name: "LLM calls" }).waitFor();
  expect(await rows(page).count()).toBe(0);
  await context.close();
});
