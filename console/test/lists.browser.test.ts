/** Lists of several pages, before made-up responses: a page that fails is loaded again where the list ends. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { openBrowser, openPage } from "./browser.ts";
import { sharedPlatform } from "./shared-platform.ts";

let browser: Browser;
let url: string;
beforeAll(async () => {
  url = (await sharedPlatform("open")).url;
  browser = await openBrowser();
}, 180_000);
afterAll(async () => {
  await browser?.close();
});

const AT = "2026-01-01T00:00:00Z";
const queue = (index: number) => ({ id: `q${index}`, name: `queue ${index}`, created_at: AT, total_runs: 0 });
const assistant = (index: number) => ({
  assistant_id: `a${index}`,
  name: `assistant ${index}`,
  graph_id: "echo",
  version: 1,
  description: null,
  metadata: {},
  updated_at: AT,
});

/** Serves two pages of a list; the second one fails until `repair`. Returns how often it was requested. */
async function servePages<T>(page: Page, address: RegExp, size: number, make: (index: number) => T) {
  let isBroken = true;
  let seconds = 0;
  await page.route(address, async (route) => {
    const body = route.request().postDataJSON() as { offset?: number; limit?: number } | null;
    const offset = Number(new URL(route.request().url()).searchParams.get("offset") ?? body?.offset ?? 0);
    if (offset > 0) seconds++;
    if (offset > 0 && isBroken) {
      await route.fulfill({ status: 422, json: { detail: "The page is torn." } });
    } else {
      await route.fulfill({
        json: Array.from({ length: offset === 0 ? size : 3 }, (_, index) => make(offset + index)),
      });
    }
  });
  return { repair: () => (isBroken = false), requests: () => seconds };
}

test("a list that loads by itself shows at its end what failed, and continues with Retry, not by scrolling", async () => {
  const { page, context, errors } = await openPage(browser);
  const { repair, requests } = await servePages(page, /\/api\/v1\/annotation-queues\?/, 100, queue);
  await page.goto(`${url}/annotation-queues`);
  const table = page.getByRole("table", { name: "Annotation queues" });
  await table.getByText("queue 0", { exact: true }).waitFor();
  const frame = table.locator("..");
  const scroll = (top: number) => frame.evaluate((element, to) => (element.scrollTop = to), top);
  await scroll(1e6);
  const alert = frame.getByRole("alert");
  await alert.getByText("The page is torn.").waitFor();
  for (const top of [0, 1e6, 0, 1e6]) {
    await scroll(top);
    await page.waitForTimeout(100);
  }
  expect(requests()).toBe(1);
  expect(await page.getByRole("alert").count()).toBe(1);
  repair();
  await alert.getByRole("button", { name: "Retry" }).click();
  await expect.poll(() => table.getAttribute("aria-rowcount")).toBe("104");
  expect(await page.getByRole("alert").count()).toBe(0);
  expect(requests()).toBe(2);
  expect(errors).toEqual([]);
  await context.close();
});

test("a list with a button for more shows what failed in its place, with Retry", async () => {
  const { page, context, errors } = await openPage(browser);
  const { repair, requests } = await servePages(page, /\/assistants\/search$/, 50, assistant);
  await page.goto(`${url}/a/local/assistants`);
  await page.getByRole("button", { name: "Show more" }).click();
  await page.getByRole("alert").getByText("The page is torn.").waitFor();
  const rows = page.getByRole("table", { name: "Assistants" }).getByRole("row");
  expect(await rows.last().textContent()).toContain("assistant 49");
  repair();
  await page.getByRole("alert").getByRole("button", { name: "Retry" }).click();
  await rows.filter({ hasText: "assistant 52" }).waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
  expect(requests()).toBe(2);
  expect(errors).toEqual([]);
  await context.close();
});
