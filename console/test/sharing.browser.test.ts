/** Shared items can be read without an account on a platform that requires keys for everything else. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { checkPage, openBrowser, openPage, until } from "./browser.ts";
import { type Seeded, seedTraces } from "./seed-traces.ts";
import { type SharedPlatform, sharedPlatform } from "./shared-platform.ts";

let platform: SharedPlatform;
let browser: Browser;
let seeded: Seeded;
let key: string;
beforeAll(async () => {
  platform = await sharedPlatform("guarded");
  browser = await openBrowser();
  // the only key printed by a first start
  key = await until(async () => /lsv2_\w+/.exec(await readFile(join(platform.directory, "server.log"), "utf8"))?.[0], {
    timeout: 30_000,
  });
  seeded = await seedTraces(platform.traceUrl, key);
}, 180_000);
afterAll(async () => {
  await browser?.close();
});

test("a shared trace is readable without a key until sharing ends", async () => {
  const { page, context } = await openPage(browser);
  await page.goto(`${platform.url}/projects/${seeded.projectId}/r/${seeded.agentRunId}`);
  // a visitor without a key signs in and returns to the requested page
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Continue with key" }).click();
  await page.getByRole("treeitem", { name: /find_shoes/ }).waitFor();
  await page.getByRole("button", { name: "Share trace" }).click();
  await page.getByRole("button", { name: "Create link" }).click();
  const link = await page.getByRole("textbox", { name: "Link to the shared trace" }).inputValue();

  const stranger = await openPage(browser);
  await stranger.page.goto(link);
  await stranger.page.getByRole("treeitem", { name: /find_shoes/ }).waitFor();
  await stranger.page.getByText("two pairs").waitFor();
  const picture = stranger.page.getByRole("img", { name: "receipt" });
  await until(() => picture.evaluate((image) => (image as HTMLImageElement).naturalWidth === 8));
  await stranger.page.getByRole("tab", { name: /Feedback/ }).click();
  await stranger.page.getByText("Found the right pair at once.").waitFor();
  expect(await stranger.page.getByRole("button", { name: "Add feedback" }).count()).toBe(0);
  await stranger.page
    .getByRole("treeitem", { name: /warehouse/ })
    .first()
    .click();
  await stranger.page.getByRole("tab", { name: "Run", exact: true }).click();
  await stranger.page.getByRole("region", { name: "Error", exact: true }).getByText("ECONNREFUSED").waitFor();
  expect(stranger.errors).toEqual([]);
  expect(await checkPage(browser, link, "shared-trace", "text=find_shoes")).toEqual([]);

  await page.getByRole("button", { name: "Stop sharing" }).click();
  await page.getByRole("button", { name: "Create link" }).waitFor();
  await stranger.page.goto(link);
  await stranger.page.getByText("Link not found").waitFor();
  await stranger.context.close();
  await context.close();
});

test("a dataset shared by the SDK is readable through its link", async () => {
  const { url } = await seeded.client.shareDataset(seeded.datasetId);
  const { pathname } = new URL(url);
  expect(pathname).toMatch(/^\/public\/[^/]+\/d$/);
  const problems = await checkPage(browser, platform.url + pathname, "shared-dataset", "[data-row]");
  expect(problems).toEqual([]);
});
