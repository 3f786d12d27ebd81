/** The first minute of a stranger: the hints of the pages lead from a talk to a broken and repaired agent. */
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { Client } from "@langchain/langgraph-sdk";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { openBrowser, openPage, until } from "./browser.ts";
import { type Platform, startPlatform } from "./platform.ts";

let platform: Platform;
let browser: Browser;
/** Directory of the project that is served. */
let project: string;

const SOUND = 'return { messages: [new AIMessage("You said: " + messages.at(-1).content)] };';
const agent = (work: string) => `import { AIMessage } from "@langchain/core/messages";
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("answer", ({ messages }) => {
    ${work}
  })
  .addEdge("__start__", "answer").addEdge("answer", "__end__").compile();
`;
const save = (work: string) => writeFile(join(project, "agent.mjs"), agent(work));

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "heddle-first-"));
  // where the project finds LangGraph without an installation
  await symlink(fileURLToPath(new URL("../../node_modules", import.meta.url)), join(project, "node_modules"));
  const config = join(project, "langgraph.json");
  await writeFile(config, JSON.stringify({ graphs: { agent: "./agent.mjs:graph" } }));
  await save(SOUND);
  platform = await startPlatform("dev", {}, config, { reloads: true });
  browser = await openBrowser();
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await platform?.stop();
  if (project) await rm(project, { recursive: true, force: true });
});

const goTo = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name, exact: true }).click();

test("a stranger talks to the agent, sees its trace, breaks and fixes it by the hints of the pages within 90 seconds", async () => {
  const { page, context, errors } = await openPage(browser);
  const client = new Client({ apiUrl: platform.agentUrl, apiKey: null });
  const steps = page.getByRole("region", { name: "First steps" });
  const done = (label: string) =>
    steps.getByRole("listitem").filter({ hasText: label }).getByLabel("Done", { exact: true }).waitFor();
  const say = async (text: string) => {
    await steps.getByRole("link", { name: "playground" }).click();
    await page.getByRole("textbox", { name: "Message" }).fill(text);
    await page.keyboard.press("Enter");
  };
  /** Saves the graph's file, as an editor does, and waits until it is in use. */
  const change = async (work: string, failed: boolean) => {
    await save(work);
    await until(async () => {
      const answer = (await client.runs.wait(null, "agent", {
        input: { messages: [{ role: "user", content: "?" }] },
        raiseError: false,
      })) as { __error__?: object };
      return (answer.__error__ !== undefined) === failed;
    });
  };
  const started = Date.now();
  await page.goto(`${platform.url}/`);
  await steps.getByText("Send a message in the").waitFor();
  await say("hello");
  await page.getByText("You said: hello").first().waitFor();
  await goTo(page, "Overview");
  await done("Talk to the agent");
  await steps.getByRole("link", { name: "open the newest trace" }).click();
  await page.getByRole("treeitem", { name: /answer/ }).waitFor();
  await goTo(page, "Overview");
  await done("See its trace");
  await steps.getByText("Throw an error in a node of the graph").waitFor();
  await change('throw new Error("no such city");', true);
  await say("weather in Bonn");
  await page.getByText("no such city").first().waitFor();
  await goTo(page, "Overview");
  await done("Break the agent");
  await steps.getByRole("link", { name: "The failed trace" }).click();
  await page.getByText("no such city").first().waitFor();
  await page
    .getByText(/agent\.mjs/)
    .first()
    .waitFor();
  await goTo(page, "Overview");
  await change(SOUND, false);
  await say("again");
  await page.getByText("You said: again").first().waitFor();
  await goTo(page, "Overview");
  await done("Fix the agent");
  expect(Date.now() - started).toBeLessThan(90_000);
  // the client logs the error of a run that failed
  expect(errors.filter((text) => !text.includes("no such city"))).toEqual([]);
  await context.close();
});
