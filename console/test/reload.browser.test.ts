/** A developer changes a graph's code, and runs a thread again from one of its steps. */
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { openBrowser, openPage, until } from "./browser.ts";
import { type Platform, startPlatform } from "./platform.ts";

const packages = fileURLToPath(new URL("../../node_modules", import.meta.url));
let project: string;
let platform: Platform;
let browser: Browser;

/** A graph of two steps, the second of which says the words. */
const graph = (words: string) => `
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
const say = (content: string) => ({ messages: [{ role: "assistant", content }] });
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("look", () => say("It rains."))
  .addNode("answer", () => say(${JSON.stringify(words)}))
  .addEdge(START, "look")
  .addEdge("look", "answer")
  .compile();
`;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "heddle-console-reload-"));
  // the project finds LangGraph without an installation
  await symlink(packages, join(project, "node_modules"));
  await writeFile(join(project, "graph.ts"), graph("Take a hat."));
  await writeFile(join(project, "langgraph.json"), JSON.stringify({ graphs: { adviser: "./graph.ts:graph" } }));
  platform = await startPlatform("dev", {}, join(project, "langgraph.json"), { reloads: true });
  browser = await openBrowser();
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await platform?.stop();
  await rm(project, { recursive: true, force: true });
});

test("after a change of the code, a thread is run again from one of its steps, and both results are kept", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/a/local/playground?assistant=adviser&panel=steps`);
  await page.getByRole("textbox", { name: "Message" }).fill("What shall I wear?");
  await page.keyboard.press("Enter");
  const said = (words: string) => page.getByRole("article").filter({ hasText: words });
  await said("Take a hat.").waitFor();
  const step = page.getByRole("region", { name: "Step 1: look" });
  await step.waitFor();

  await writeFile(join(project, "graph.ts"), graph("Take an umbrella."));
  const log = () => readFile(join(platform.directory, "server.log"), "utf8");
  await until(async () => (await log()).includes("Graphs reloaded."));
  await step.getByRole("button", { name: "Run from here" }).click();
  await said("Take an umbrella.").waitFor();
  expect(await said("It rains.").count()).toBe(1);
  expect(await said("Take a hat.").count()).toBe(0);
  const branch = page.getByRole("button", { name: "Branch 2" });
  await branch.getByText("1 step, from step 1").waitFor();
  await branch.getByText("Take a hat.").waitFor();
  await page.getByRole("group", { name: "Branches" }).getByRole("button", { name: "Previous branch" }).click();
  await said("Take a hat.").waitFor();
  expect(errors).toEqual([]);
  await context.close();
});
