/** A project from its folder, an archive or Git to a running server; later revisions, rollback and deletion. */
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Client } from "@langchain/langgraph-sdk";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { type GitServer, testGitServer } from "../../server/test/git-server.ts";
import { countInputs, endJob, enter } from "./count-inputs.ts";
import { checkOpenPage, openBrowser, openPage, seriousFindings, until } from "./browser.ts";
import { type Platform, startPlatform } from "./platform.ts";

const DEPLOY_MS = 90_000;

let platform: Platform;
let browser: Browser;
let git: GitServer;
const projects: string[] = [];

const graph = (word: string) => `import { Annotation, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ text: Annotation(), word: Annotation(), env: Annotation() });
const answer = async () => {
  console.log("a line of ${word}");
  return { word: "${word}", env: process.env.GREETING ?? null };
};
export const graph = new StateGraph(State).addNode("answer", answer)
  .addEdge("__start__", "answer").addEdge("answer", "__end__").compile();
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

function packed(directory: string): string {
  const archive = join(directory, "agent.tar.gz");
  execFileSync("tar", ["-czf", archive, "-C", directory, "langgraph.json", "graph.mjs"]);
  return archive;
}

beforeAll(async () => {
  git = await testGitServer();
  platform = await startPlatform("up", {
    HEDDLE_DRAIN_SECONDS: "2",
    HEDDLE_MIN_HEALTHY_MS: "200",
    HEDDLE_OUTBOUND_ALLOW: "127.0.0.1/32",
  });
  browser = await openBrowser();
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await platform?.stop();
  await git?.close();
  for (const directory of projects) await rm(directory, { recursive: true, force: true });
}, 60_000);

async function runEcho(slug = "shop-agent"): Promise<Record<string, unknown>> {
  const response = await fetch(`${platform.controlUrl}/d/${slug}/runs/wait`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ assistant_id: "echo", input: { text: "x" } }),
  });
  return (await response.json()) as Record<string, unknown>;
}

async function deployments(): Promise<{ id: string; secrets: object[] }[]> {
  const response = await fetch(`${platform.controlUrl}/v2/deployments?limit=100`);
  return ((await response.json()) as { resources: { id: string; secrets: object[] }[] }).resources;
}

/** Deletes all deployments, so that a second try begins like the first. */
async function removeAll(): Promise<void> {
  for (const { id } of await deployments()) {
    await fetch(`${platform.controlUrl}/v2/deployments/${id}`, { method: "DELETE" });
  }
  await until(async () => (await deployments()).length === 0, { timeout: 60_000, interval: 200 });
}

const clickDeploy = (page: Page) => page.getByRole("button", { name: "Deploy", exact: true }).click();

test("deploys a folder, changes its environment, rolls back a bad revision, and deletes all", async () => {
  await removeAll();
  const { page, context, errors } = await openPage(browser);
  const problems: string[] = [];
  const inputs = await countInputs(context);
  const activeLabel = page.getByRole("navigation", { name: "Revisions" }).getByText("active", { exact: true });
  await page.goto(`${platform.url}/deployments`);
  await page.getByText("No deployments yet").waitFor();
  await page.getByRole("button", { name: "New deployment" }).click();
  await enter(page.getByRole("textbox", { name: "Name", exact: true }), "Shop Agent");
  await page.getByText("1 to 63 characters").waitFor();
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("shop-agent");
  await page.getByLabel("Project folder").setInputFiles(await writeProject("first"));
  await page.getByText(/: 2 files,/).waitFor();
  await page.getByRole("button", { name: "Add variable" }).click();
  await enter(page.getByLabel("Name of variable 1"), "GREETING");
  await enter(page.getByLabel("Value of GREETING"), "hello");
  problems.push(...(await checkOpenPage(page, "deployment-form", "text=/: 2 files,/")));
  await clickDeploy(page);
  await page.getByRole("heading", { name: "shop-agent" }).waitFor();
  problems.push(...endJob("deploy a folder with a variable", inputs));
  await activeLabel.waitFor({ timeout: DEPLOY_MS });
  expect(await runEcho()).toMatchObject({ word: "first", env: "hello" });
  await page.getByRole("log", { name: "Server log" }).getByText("a line of first").waitFor();
  await page.getByText("Build log").click();
  await page.getByRole("log", { name: "Build log" }).getByText("Unpacked 2 files").waitFor();

  // a run's page names the revision that executed it and shows its log
  const client = new Client({ apiUrl: `${platform.controlUrl}/d/shop-agent`, apiKey: null });
  const { thread_id: thread } = await client.threads.create();
  await client.runs.wait(thread, "echo", { input: { text: "y" } });
  const [run] = await client.runs.list(thread);
  const deploymentUrl = page.url();
  await page.goto(`${platform.url}/a/shop-agent/threads/${thread}/runs/${run!.run_id}`);
  await page.getByText(/^Revision [0-9a-f]{8}$/).waitFor();
  await page
    .getByText(/^Revision/)
    .getByRole("link")
    .click();
  await page.waitForURL(/\/deployments\/.*revision=/);
  await page.goto(deploymentUrl);

  await page.getByRole("tab", { name: "Environment" }).click();
  expect(await page.getByLabel("Value of GREETING").inputValue()).toBe("");
  problems.push(...(await checkOpenPage(page, "deployment-environment", "text=Values are stored encrypted")));
  await page.getByLabel("Value of GREETING").fill("good evening");
  await page.getByRole("button", { name: "Save as new revision" }).click();
  await page.getByText("New revision created with this environment").waitFor();
  await vi.waitUntil(async () => (await runEcho())["env"] === "good evening", { timeout: DEPLOY_MS, interval: 500 });

  await page.getByRole("tab", { name: "Instances" }).click();
  await page.getByText("% of a core").first().waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await page.getByRole("tab", { name: "Server log" }).click();
  await page.getByLabel("Search in Server log").fill("line of");
  await page.getByText("a line of first").first().waitFor();
  const today = new RegExp(String(new Date().getFullYear()));
  expect(await page.getByRole("log").getByText(today).first().innerText()).toMatch(/^\w{3}, /);

  await page.getByRole("button", { name: "New revision" }).click();
  const archive = page.getByLabel("Project archive");
  await archive.setInputFiles({ name: "agent.zip", mimeType: "application/zip", buffer: Buffer.from("PK") });
  await page.getByText("agent.zip is not a .tar.gz archive.").waitFor();
  expect(await page.getByRole("button", { name: "Deploy", exact: true }).isDisabled()).toBe(true);
  await archive.setInputFiles(packed(await writeProject("bad", "throw new Error('no key');")));
  await page.getByText(/^agent\.tar\.gz, /).waitFor();
  await clickDeploy(page);
  await page.getByRole("alert").filter({ hasText: "failed to load" }).waitFor({ timeout: DEPLOY_MS });
  await page.getByRole("log").getByText("no key").first().waitFor();
  expect(await runEcho()).toMatchObject({ word: "first" });
  await page.getByRole("link", { name: "Deployments" }).click();
  // the cause of the failure is in the list, and the log is two clicks away
  await page.getByText("revision 2 serves").waitFor();
  Object.assign(inputs, { clicks: 0, keys: 0 });
  await page.getByRole("link", { name: /^Revision 3: Deploy failed\. / }).click();
  await page.getByRole("log").getByText("no key").first().waitFor();
  problems.push(...endJob("open the cause of a failed deployment", inputs));

  const revisions = page.getByRole("navigation", { name: "Revisions" }).getByRole("button");
  expect(await revisions.count()).toBe(3);
  Object.assign(inputs, { clicks: 0, keys: 0 });
  await revisions.nth(2).click();
  await page.getByRole("button", { name: "Roll back" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Roll back" }).click();
  problems.push(...endJob("roll back to an earlier revision", inputs));
  await vi.waitUntil(async () => (await runEcho())["env"] === "hello", { timeout: DEPLOY_MS, interval: 500 });
  // the newest is active and not a new upload; earlier ones are quiet
  await revisions.nth(0).getByText("active", { exact: true }).waitFor();
  expect(await revisions.filter({ hasText: "superseded" }).count()).toBe(2);
  expect(await revisions.nth(0).innerText()).toMatch(/^4\n[^]*Rollback to revision 1\n+by local · Upload · [\d.]+ s/);
  expect(await revisions.nth(3).innerText()).toContain("First revision");
  // each says what it changed: the environment by names, the source by its upload
  expect(await revisions.nth(2).innerText()).toContain("changed variable GREETING");
  expect(await revisions.nth(1).innerText()).toContain("new upload");
  await revisions.nth(2).click();
  const changes = page.getByRole("region", { name: "Changes" });
  expect(await changes.getByRole("listitem").allInnerTexts()).toEqual(["changed variable GREETING"]);
  await changes.getByText("Variables: GREETING").waitFor();
  await page.getByRole("tab", { name: "Instances" }).click();
  await page.getByText("Stopped: its revision could not be deployed.").first().waitFor();
  await page.getByText("Stopped: another revision replaced it.").first().waitFor();
  await page.getByRole("tab", { name: "Revisions" }).click();
  await revisions.nth(0).click();

  problems.push(...(await checkOpenPage(page, "deployment", "role=log")));
  // the stopped instances have sent what they counted
  await page.getByRole("link", { name: "Dashboard", exact: true }).click();
  await page.getByRole("region", { name: "Runs by status" }).getByText("success").first().waitFor({ timeout: 30_000 });
  await page.getByRole("region", { name: "What got worse" }).waitFor();
  problems.push(...(await checkOpenPage(page, "deployment-dashboard", "text=Runs by status")));
  await page.getByRole("link", { name: "Deployments" }).click();
  problems.push(...(await checkOpenPage(page, "deployments", "main a:has-text('shop-agent')")));
  expect(problems).toEqual([]);

  await page.getByRole("link", { name: "shop-agent", exact: true }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  const remove = page.getByRole("dialog").getByRole("button", { name: "Delete" });
  expect(await remove.isDisabled()).toBe(true);
  await page.getByLabel("Type shop-agent to confirm").fill("shop-agent");
  await remove.click();
  await page.waitForURL(/\/deployments$/);
  await page.getByText("No deployments yet").waitFor({ timeout: 30_000 });
  expect(errors).toEqual([]);
  await context.close();
}, 400_000);

test("deploys a private repository, shows its build log live, and changes its variables one by one", async () => {
  await removeAll();
  const directory = await mkdtemp(join(tmpdir(), "heddle-project-"));
  projects.push(directory);
  const go = join(directory, "go");
  const repository = git.create(`private-${crypto.randomUUID()}`);
  repository.commit({
    "langgraph.json": JSON.stringify({ graphs: { echo: "./graph.mjs:graph" } }),
    "graph.mjs": graph("from Git"),
    // an installation that waits until the test lets it continue
    "package.json": JSON.stringify({ name: "agent", private: true, scripts: { preinstall: "node wait.mjs" } }),
    "wait.mjs": `import { existsSync } from "node:fs";
console.log("packages are waited for");
while (!existsSync(${JSON.stringify(go)})) await new Promise((done) => setTimeout(done, 50));`,
  });
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/deployments?create=true`);
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("git-agent");
  await page.getByText("Git", { exact: true }).click();
  await page.getByLabel("Repository").fill("somewhere");
  await page.getByText("Enter a URL that starts with https:// or http://").waitFor();
  expect(await page.getByRole("button", { name: "Deploy", exact: true }).isDisabled()).toBe(true);
  await page.getByLabel("Repository").fill(repository.url);
  await page.getByLabel("Token").fill(git.token);
  await page.getByLabel("Username").fill("x-access-token");
  expect(await checkOpenPage(page, "deployment-form-git", "text=Deploy on push")).toEqual([]);
  await clickDeploy(page);
  await page.getByRole("heading", { name: "git-agent" }).waitFor();
  await page
    .getByRole("log", { name: "Build log" })
    .getByText("packages are waited for")
    .waitFor({ timeout: DEPLOY_MS });
  await page.getByRole("navigation", { name: "Revisions" }).getByText("BUILDING").waitFor();
  await writeFile(go, "");
  await page
    .getByRole("navigation", { name: "Revisions" })
    .getByText("active", { exact: true })
    .waitFor({ timeout: DEPLOY_MS });
  expect(await runEcho("git-agent")).toMatchObject({ word: "from Git", env: null });

  await page.getByRole("tab", { name: "Environment" }).click();
  const add = async (at: number, name: string, value: string) => {
    await page.getByRole("button", { name: "Add variable" }).click();
    await page.getByLabel(`Name of variable ${at}`).fill(name);
    await page.getByLabel(`Value of ${name}`).fill(value);
  };
  const save = page.getByRole("button", { name: "Save as new revision" });
  expect(await save.isDisabled()).toBe(true);
  await add(1, "GREETING", "hello");
  await add(2, "OTHER", "kept");
  await save.click();
  await until(async () => (await runEcho("git-agent"))["env"] === "hello", { timeout: DEPLOY_MS, interval: 500 });
  // saved values are not shown, and untouched ones stay
  await until(async () => (await page.getByLabel("Value of GREETING").inputValue()) === "");
  await page.getByRole("button", { name: "Remove GREETING" }).click();
  await save.click();
  await until(async () => (await runEcho("git-agent"))["env"] === null, { timeout: DEPLOY_MS, interval: 500 });
  expect(await page.getByLabel("Name of variable 1").inputValue()).toBe("OTHER");
  // and the last one
  await page.getByRole("button", { name: "Remove OTHER" }).click();
  await page.getByText("No variables.").waitFor();
  await save.click();
  await until(async () => (await deployments()).every(({ secrets }) => secrets.length === 0));
  expect(errors).toEqual([]);
  await context.close();
}, 400_000);
