/** A project with custom authentication, which does not know the users of the console. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { openBrowser, openPage } from "./browser.ts";
import { type Platform, startPlatform } from "./platform.ts";

const PROJECT = "conformance/custom-project/langgraph.json";
let browser: Browser;
let platform: Platform | undefined;

beforeAll(async () => {
  browser = await openBrowser();
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await platform?.stop();
}, 60_000);

test("a project that rejects the console shows on its own pages how to allow it", async () => {
  platform = await startPlatform("dev", {}, PROJECT);
  const { page, context } = await openPage(browser);
  await page.goto(`${platform.url}/a/local/threads`);
  const alert = page.getByRole("alert").filter({ hasText: "The agent server denied access" }).first();
  await alert.getByText("No token").waitFor();
  await alert.getByText("HEDDLE_STUDIO_AUTH=true").waitFor();
  await page.goto(`${platform.url}/projects`);
  await page.getByRole("heading", { name: "Traces" }).waitFor();
  await page.goto(platform.url);
  await page.getByText("Traces in the last 24 hours").waitFor();
  expect(new URL(page.url()).pathname).toBe("/");
  await context.close();
  await platform.stop();
  platform = undefined;
}, 240_000);

test("with HEDDLE_STUDIO_AUTH the console can access the project's graphs", async () => {
  platform = await startPlatform("dev", { HEDDLE_STUDIO_AUTH: "true" }, PROJECT);
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/a/local/threads`);
  await page.getByText("No threads yet").waitFor();
  await page.goto(`${platform.url}/a/local/store`);
  await page.getByText("No items yet").waitFor();
  expect(errors).toEqual([]);
  await context.close();
}, 240_000);
