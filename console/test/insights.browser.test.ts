/** Insights of a project on the real platform, with fake providers of models. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { modelServer, type ModelServer } from "../../server/test/model-server.ts";
import { nameByTopic, topicRuns } from "../../server/test/topic-runs.ts";
import { checkOpenPage, openBrowser, openPage, until } from "./browser.ts";
import { type SharedPlatform, sharedPlatform } from "./shared-platform.ts";

const RUN = crypto.randomUUID().slice(0, 8);
const PROJECT = `asked ${RUN}`;

let platform: SharedPlatform;
let browser: Browser;
let models: ModelServer;
let projectId: string;
let connectionId: string;
let firstJob: string;
const DAY = 86_400_000;

async function request<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`${platform.traceUrl}/api/v1${path}`, {
    method,
    headers: { "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

beforeAll(async () => {
  [platform, browser, models] = await Promise.all([sharedPlatform("open"), openBrowser(), modelServer()]);
  models.script = (asked) => nameByTopic(asked);
  await request("POST", "/workspaces/current/secrets", [{ key: `KEY_${RUN}`, value: "sk-fake" }]);
  connectionId = (
    await request<{ id: string }>("POST", "/models/connections", {
      name: `Insights ${RUN}`,
      provider: "openai-compatible",
      settings: { base_url: `${models.url}/v1` },
      secrets: { api_key: `KEY_${RUN}` },
      default_model: "namer",
      embedding_model: "words",
    })
  ).id;
  const start = Date.now() - 10 * DAY;
  const before = topicRuns(PROJECT, 100, { start, fails: (i) => i % 9 === 0 });
  const now = topicRuns(PROJECT, 140, {
    start: start + 8 * DAY,
    shares: { billing: 3 },
    seed: 5,
    fails: (i) => i % 8 === 0,
  });
  await request("POST", "/runs/batch", { post: [...before, ...now].map(({ run }) => run) });
  const [project] = await request<{ id: string }[]>("GET", `/sessions?name=${encodeURIComponent(PROJECT)}`);
  projectId = project!.id;
  const period = (from: number, to: number) => ({
    start_time: new Date(start + from * DAY).toISOString(),
    end_time: new Date(start + to * DAY).toISOString(),
    connection_id: connectionId,
    embedding_connection_id: connectionId,
  });
  const body = { ...period(-1, 5), name: "First week" };
  firstJob = (await request<{ id: string }>("POST", `/sessions/${projectId}/insights`, body)).id;
  await until(
    async () =>
      (await request<{ status: string }>("GET", `/sessions/${projectId}/insights/${firstJob}`)).status === "success",
  );
}, 180_000);
afterAll(async () => {
  if (connectionId) await fetch(`${platform.traceUrl}/api/v1/models/connections/${connectionId}`, { method: "DELETE" });
  await browser?.close();
});

test(
  "starts a job from the page, shows its groups and their change, and opens a run",
  { timeout: 120_000 },
  async () => {
    const { page, errors } = await openPage(browser);
    await page.goto(`${platform.url}/projects/${projectId}/insights`);
    await page.getByText("5 kinds of questions in 100 runs").waitFor();
    await page.getByRole("button", { name: "Find insights" }).click();
    const form = page.getByRole("dialog");
    await form.getByText(/140 of 140 in the period/).waitFor();
    await form.getByLabel("Connection that names").click();
    await page.getByRole("option", { name: `Insights ${RUN}` }).click();
    await form.getByLabel("Connection that embeds").click();
    await page.getByRole("option", { name: `Insights ${RUN}` }).click();
    await form.getByText("words: ").waitFor();
    await form.getByRole("button", { name: "Start" }).click();
    await page.getByText("5 kinds of questions in 140 runs").waitFor();
    await page.getByText('"Questions about billing" grew from 20 % to 43 %.').waitFor();
    const group = page.getByRole("button", { name: /Questions about billing/ });
    expect(await group.textContent()).toContain("▲ was 20 %");
    await group.click();
    const panel = page.getByRole("region", { name: "Questions about billing", exact: true });
    await panel.getByText("What users ask about billing.").waitFor();
    await panel.getByText("It grew from 20 % to 43 %.").waitFor();
    await panel.getByRole("link").first().waitFor();
    expect(await checkOpenPage(page, "insights-group", "text=What users ask about billing.")).toEqual([]);
    await panel.getByRole("link").first().click();
    await page.waitForURL(/\/r\//);
    expect(errors).toEqual([]);
    await page.context().close();
  },
);

test("adds a group's runs to a queue", { timeout: 60_000 }, async () => {
  const { page, errors } = await openPage(browser);
  await page.goto(`${platform.url}/projects/${projectId}/insights`);
  await page.getByRole("button", { name: /Questions about login/ }).click();
  await page.getByRole("button", { name: "Add to queue" }).click();
  const form = page.getByRole("dialog");
  await form
    .getByLabel(/^(Name|Queue)/)
    .first()
    .waitFor();
  const isNew = form.getByText("New", { exact: true });
  if (await isNew.isVisible()) await isNew.click();
  await form.getByLabel(/^Name/).fill(`Login ${RUN}`);
  await form.getByRole("button", { name: "Add", exact: true }).click();
  await page.waitForURL(/annotation-queues/);
  await page.getByRole("heading", { name: `Login ${RUN}` }).waitFor();
  expect(errors).toEqual([]);
  await page.context().close();
});
