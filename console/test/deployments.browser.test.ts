/** A project from its folder to a running server, a second revision, the way back and the end. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { lookAt, openBrowser, openPage, type Platform, seriousFindings, startPlatform } from "./browser.ts";

const DEPLOY_MS = 90_000;

let platform: Platform;
let browser: Browser;
const projects: string[] = [];

const graph = (word: string) => `import { Annotation, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ text: Annotation(), word: Annotation(), env: Annotation() });
const one = async () => {
  console.log("a line of ${word}");
  return { word: "${word}", env: process.env.GREETING ?? null };
};
export const graph = new StateGraph(State).addNode("one", one)
  .addEdge("__start__", "one").addEdge("one", "__end__").compile();
`;

async function writeProject(word: string, source = graph(word)): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "heddle-project-"));
  projects.push(directory);
  await writeFile(join(directory, "langgraph.json"), JSON.stringify({ graphs: { echo: "./graph.mjs:graph" } }));
  await writeFile(join(directory, "graph.mjs"), source);
  await mkdir(join(directory, "node_modules", "left-out"), { recursive: true });
  await writeFile(join(directory, "node_modules", "left-out", "index.js"), "");
  return directory;
}

beforeAll(async () => {
  platform = await startPlatform("up", { HEDDLE_DRAIN_SECONDS: "2", HEDDLE_MIN_HEALTHY_MS: "200" });
  browser = await openBrowser();
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await platform?.stop();
  for (const directory of projects) await rm(directory, { recursive: true, force: true });
}, 60_000);

async function runIt(): Promise<Record<string, unknown>> {
  const answer = await fetch(`${platform.controlUrl}/d/shop-agent/runs/wait`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ assistant_id: "echo", input: { text: "x" } }),
  });
  return (await answer.json()) as Record<string, unknown>;
}

test("a folder is deployed, its environment changed, a worse revision replaced by the one before, all deleted", async () => {
  const { page, context, errors } = await openPage(browser);
  const one = page.getByText("serves", { exact: true });
  await page.goto(`${platform.url}/deployments`);
  await page.getByText("No deployments yet").waitFor();
  await page.getByRole("button", { name: "New deployment" }).click();
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("Shop Agent");
  await page.getByText("1 to 63 of a-z").waitFor();
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("shop-agent");
  await page.getByLabel("Folder of the project").setInputFiles(await writeProject("first"));
  await page.getByText(/: 2 files,/).waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Add a variable" }).click();
  await page.getByLabel("Name of variable 1").fill("GREETING");
  await page.getByLabel("Value of GREETING").fill("hello");
  await page.getByRole("button", { name: "Deploy", exact: true }).click();
  await page.getByRole("heading", { name: "shop-agent" }).waitFor();
  await one.waitFor({ timeout: DEPLOY_MS });
  expect(await runIt()).toMatchObject({ word: "first", env: "hello" });
  await page.getByRole("log", { name: "Server log" }).getByText("a line of first").waitFor();
  await page.getByText("Build log").click();
  await page.getByRole("log", { name: "Build log" }).getByText("Unpacked 2 files").waitFor();

  await page.getByRole("tab", { name: "Environment" }).click();
  expect(await page.getByLabel("Value of GREETING").inputValue()).toBe("");
  expect(await seriousFindings(page)).toEqual([]);
  await page.getByLabel("Value of GREETING").fill("good evening");
  await page.getByRole("button", { name: "Save as a new revision" }).click();
  await page.getByText("A new revision takes the new environment").waitFor();
  await vi.waitUntil(async () => (await runIt())["env"] === "good evening", { timeout: DEPLOY_MS, interval: 500 });

  await page.getByRole("tab", { name: "Instances" }).click();
  await page.getByText("% of a core").first().waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await page.getByRole("tab", { name: "Server log" }).click();
  await page.getByLabel("Search in Server log").fill("line of");
  await page.getByText("a line of first").first().waitFor();

  await page.getByRole("button", { name: "New revision" }).click();
  await page.getByLabel("Folder of the project").setInputFiles(await writeProject("bad", "throw new Error('no key');"));
  await page.getByText(/: 2 files,/).waitFor();
  await page.getByRole("button", { name: "Deploy", exact: true }).click();
  await page.getByRole("alert").filter({ hasText: "do not load" }).waitFor({ timeout: DEPLOY_MS });
  await page.getByRole("log").getByText("no key").first().waitFor();
  expect(await runIt()).toMatchObject({ word: "first" });

  const revisions = page.getByRole("navigation", { name: "All revisions" }).getByRole("button");
  expect(await revisions.count()).toBe(3);
  await revisions.nth(2).click();
  await page.getByRole("button", { name: "Roll back to it" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Deploy it" }).click();
  await vi.waitUntil(async () => (await runIt())["env"] === "hello", { timeout: DEPLOY_MS, interval: 500 });

  const problems = [
    ...(await lookAt(browser, `${platform.url}/deployments`, "deployments", "main a:has-text('shop-agent')")),
    ...(await lookAt(browser, page.url(), "deployment", "role=log")),
  ];
  expect(problems).toEqual([]);

  await page.getByRole("button", { name: "Delete" }).click();
  const remove = page.getByRole("dialog").getByRole("button", { name: "Delete for ever" });
  expect(await remove.isDisabled()).toBe(true);
  await page.getByLabel("Type shop-agent to go on").fill("shop-agent");
  await remove.click();
  await page.waitForURL(/\/deployments$/);
  await page.getByText("No deployments yet").waitFor({ timeout: 30_000 });
  expect(errors).toEqual([]);
  await context.close();
}, 400_000);
