/**
 * Every route with data that arrives late: its layout stays in place, it fits at three widths, and axe finds nothing
 * serious, light and dark, and the keyboard reaches what it has, visibly. A route that is missing from the lists fails the last test.
 */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

import { Client } from "@langchain/langgraph-sdk";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { checkOpenPage, openBrowser, openPage, until } from "./browser.ts";
import { observeShifts, shiftProblems } from "./layout-shift.ts";
import { walkKeys } from "./walk-keys.ts";
import { chatManifest, promptApi, withModel } from "./seed-prompts.ts";
import { type Seeded, seedAlert, seedBudget, seedEvaluator, seedQueue, seedRule } from "./seed-traces.ts";
import { type SharedPlatform, sharedPlatform, sharedTraces } from "./shared-platform.ts";

/** Data arrives up to this much late, later for each further request of a page. */
const LATE_MS = 400;

let platform: SharedPlatform;
let browser: Browser;
let client: Client;
let seeded: Seeded;
let ids: Record<
  | "alert"
  | "budget"
  | "assistant"
  | "cron"
  | "evaluator"
  | "experiment"
  | "newer"
  | "older"
  | "pairs"
  | "queue"
  | "rule"
  | "run"
  | "thread"
  | "waiting",
  string
>;
beforeAll(async () => {
  platform = await sharedPlatform("open");
  browser = await openBrowser();
  client = new Client({ apiUrl: platform.agentUrl, apiKey: null });
  seeded = await sharedTraces(platform);
  await until(async () => (await client.assistants.search()).length > 8);
  ids = await createObjects();
}, 180_000);
afterAll(async () => {
  await browser?.close();
});

const RICH = "# Bread\n\n- rye\n- wheat\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```js\nbake(400);\n```";

async function createObjects(): Promise<typeof ids> {
  const content = (text: string) => ({ input: { messages: [{ role: "user", content: text }] } });
  const { thread_id: thread } = await client.threads.create();
  await client.runs.wait(thread, "agent", { ...content("weather in Rome"), webhook: `${platform.agentUrl}/ok` });
  await client.runs.wait(thread, "agent", content(RICH));
  const history = await client.threads.getHistory(thread);
  const [, run] = await client.runs.list(thread);
  const { thread_id: waiting } = await client.threads.create();
  await client.runs.wait(waiting, "mailer", content("write to Ada"));
  const [assistant] = await client.assistants.search({ graphId: "agent" });
  const cron = await client.crons.create("agent", { schedule: "0 9 * * 1-5", input: { messages: [] } });
  await client.store.putItem(["checked", "ada"], "profile", { text: "likes green tea" });
  await createPrompt();
  await until(async () => (await fetch(`${platform.traceUrl}/runs/${run!.run_id}`)).ok);
  const queue = await seedQueue(platform.traceUrl, "Replies", [seeded.agentRunId], seeded.datasetId);
  const rule = await seedRule(platform.traceUrl, seeded.projectId, [seeded.agentRunId]);
  const alert = await seedAlert(platform.traceUrl, seeded.projectId);
  return {
    alert,
    budget: await seedBudget(platform.traceUrl),
    queue,
    experiment: await createExperiment(),
    pairs: await createReview(),
    evaluator: await seedEvaluator(platform.traceUrl),
    rule,
    thread,
    older: history[2]!.checkpoint.checkpoint_id!,
    newer: history[0]!.checkpoint.checkpoint_id!,
    run: run!.run_id,
    waiting,
    assistant: assistant!.assistant_id,
    cron: (cron as unknown as { cron_id: string }).cron_id,
  };
}

/** An experiment that has ended, with failures: its endpoint does not exist. */
async function createExperiment(): Promise<string> {
  const url = `${platform.traceUrl}/experiments/runs`;
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      dataset_id: seeded.datasetId,
      name: "doubling over HTTP",
      target: { type: "http", url: `${platform.traceUrl}/api/v1/no-such-path` },
      max_examples: 3,
    }),
  });
  const { id } = (await response.json()) as { id: string };
  await until(async () => {
    const job = (await (await fetch(`${url}/${id}`)).json()) as { status: string };
    return job.status === "completed";
  });
  return id;
}

/** A review of the seeded experiments pair by pair. */
async function createReview(): Promise<string> {
  const response = await fetch(`${platform.traceUrl}/datasets/comparative/reviews`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ experiment_ids: seeded.experimentIds, instructions: "Which is right?" }),
  });
  return ((await response.json()) as { id: string }).id;
}

const PROMPT = `checked-${crypto.randomUUID().slice(0, 8)}`;

/** A prompt with two commits, tags and a README. */
async function createPrompt(): Promise<void> {
  const api = promptApi(platform.traceUrl);
  await api.create(PROMPT, { description: "Checked by a test", tags: ["checked"], readme: RICH });
  const first = await api.commit(PROMPT, chatManifest("You are a helpful assistant."), "First version");
  const next = withModel(chatManifest("You are a terse assistant."));
  const second = await api.commit(PROMPT, next, "Be terse", first.hash);
  await api.tag(PROMPT, "production", first.id);
  await api.tag(PROMPT, "staging", second.id);
}

interface Checked {
  route: string;
  /** Name of its screenshots. */
  name: string;
  path: () => string;
  /** Selects an element that is present once the page has its data. */
  ready: string;
}

const agentPage = (
  route: string,
  name: string,
  ready: string,
  path: () => string = () => route.replace(/\/$/, ""),
): Checked => ({ route: `/a/$server/${route}`, name, ready, path: () => `/a/local/${path()}` });
const project = (search = "") => `/projects/${seeded.projectId}${search}`;
const trace = (view = "") => `${project()}/r/${seeded.agentRunId}${view}`;
const dataset = (search = "") => `/datasets/${seeded.datasetId}${search}`;
const compared = () => `selectedSessions=${seeded.experimentIds.join(",")}`;

const promptPage = (tab: string, name: string, ready: string): Checked => ({
  route: "/prompts/$owner/$repo",
  name,
  path: () => `/prompts/-/${PROMPT}?tab=${tab}`,
  ready,
});

const PAGES: Checked[] = [
  { route: "/", name: "overview", path: () => "/", ready: "text=Shop assistant" },
  { route: "/$", name: "not-found", path: () => "/no-such-page", ready: "text=Page not found" },
  agentPage("playground", "playground-chat", "text=The tool says", () => `playground?thread=${ids.thread}&panel=steps`),
  agentPage(
    "playground",
    "playground-versus",
    '[aria-label="Message"]',
    () => "playground?assistant=agent&versus=priced",
  ),
  agentPage("playground", "playground-form", "text=Stop before", () => "playground?assistant=slow&panel=setup"),
  agentPage("playground", "playground-question", "text=Sends a mail", () => `playground?thread=${ids.waiting}`),
  agentPage("chat", "chat", "text=The tool says", () => `chat?thread=${ids.thread}`),
  agentPage("threads/", "threads", "td"),
  agentPage("threads/$threadId", "thread-state", "text=The tool says", () => `threads/${ids.thread}`),
  agentPage("threads/$threadId", "thread-runs", "td", () => `threads/${ids.thread}?tab=runs`),
  agentPage(
    "threads/$threadId",
    "thread-compare",
    "text=Both conversations say the same",
    () => `threads/${ids.thread}?tab=compare&against=${ids.thread}`,
  ),
  agentPage(
    "threads/$threadId",
    "thread-diff",
    "text=Changes from",
    () => `threads/${ids.thread}?checkpoint=${ids.newer}&with=${ids.older}`,
  ),
  agentPage(
    "threads/$threadId/runs/$runId",
    "thread-run",
    "text=get_weather",
    () => `threads/${ids.thread}/runs/${ids.run}`,
  ),
  agentPage("inbox", "inbox", "text=Sends a mail"),
  agentPage("queue", "queue", "text=Healthy servers"),
  agentPage("assistants/", "assistants", "text=parallel"),
  agentPage("assistants/$assistantId", "versions", "text=active", () => `assistants/${ids.assistant}?tab=versions`),
  agentPage("assistants/$assistantId", "graph", ".react-flow__node", () => `assistants/${ids.assistant}?tab=graph`),
  agentPage("crons", "crons", "text=0 9 * * 1-5"),
  agentPage("crons", "cron", "text=/Recent (runs|traces)/", () => `crons?cron=${ids.cron}`),
  agentPage("store", "store", "text=likes green tea", () => "store?ns=%5B%22checked%22%5D"),
  agentPage("webhooks", "webhooks", "td"),
  { route: "/projects/", name: "projects", path: () => "/projects", ready: "text=Shop assistant" },
  { route: "/projects/$projectId/", name: "project", path: project, ready: "[data-row]" },
  {
    route: "/projects/$projectId/",
    name: "thread-replay",
    path: () => project("?tab=threads&thread=talk-3"),
    ready: "text=Turn 5 of 5",
  },
  {
    route: "/projects/$projectId/monitoring",
    name: "monitoring",
    path: () => `${project()}/monitoring?before=true`,
    ready: ".uplot",
  },
  {
    route: "/projects/$projectId/insights",
    name: "insights",
    path: () => `${project()}/insights`,
    ready: "text=Find insights",
  },
  { route: "/projects/$projectId/r/$runId", name: "trace", path: trace, ready: "text=find_shoes" },
  {
    route: "/projects/$projectId/r/$runId",
    name: "trace-feedback",
    path: () => trace("?view=feedback"),
    ready: "text=Found the right pair",
  },
  {
    route: "/authorize",
    name: "authorize",
    // what follows the link of a program that has not registered
    path: () => "/authorize?request=e30",
    ready: "text=response_type",
  },
  {
    route: "/compare",
    name: "compare",
    path: () => `/compare?a=${seeded.agentRunId}`,
    ready: "text=B: run ID or URL",
  },
  {
    route: "/playground",
    name: "prompt-playground",
    path: () => `/playground?run=${seeded.llmRunId}`,
    ready: '[aria-label="Text of message 2"]',
  },
  { route: "/datasets/", name: "datasets", path: () => "/datasets", ready: "text=Doubling" },
  { route: "/datasets/$datasetId", name: "dataset", path: dataset, ready: "[data-row]" },
  {
    route: "/datasets/$datasetId",
    name: "experiments-history",
    path: () => dataset("?tab=history"),
    ready: ".uplot",
  },
  {
    route: "/datasets/$datasetId",
    name: "experiments-compared",
    path: () => dataset(`?tab=compare&${compared()}`),
    ready: "[data-row]",
  },
  {
    route: "/datasets/$datasetId/pairs/$comparisonId",
    name: "experiments-pairs",
    path: () => `/datasets/${seeded.datasetId}/pairs/${ids.pairs}`,
    ready: "text=1 is better",
  },
  {
    route: "/datasets/$datasetId",
    name: "near-duplicates",
    path: () => dataset("?tab=duplicates"),
    ready: '[aria-label="Dataset actions"]',
  },
  {
    route: "/datasets/$datasetId",
    name: "proposals",
    path: () => dataset("?tab=proposals"),
    ready: "text=Generate variants",
  },
  { route: "/prompts/", name: "prompts", path: () => "/prompts", ready: "[data-row]" },
  promptPage("prompt", "prompt", "text=You are a terse assistant."),
  promptPage("commits", "prompt-commits", "td"),
  promptPage("compare", "prompt-compare", "ins"),
  promptPage("tags", "prompt-tags", "text=History of"),
  promptPage("metrics", "prompt-metrics", "text=No traces with this prompt"),
  promptPage("readme", "prompt-readme", "text=wheat"),
  promptPage("settings", "prompt-settings", "text=Delete prompt"),
  { route: "/evaluators/", name: "evaluators", path: () => "/evaluators", ready: "text=Short answers" },
  { route: "/evaluators/new", name: "new-evaluator", path: () => "/evaluators/new", ready: "text=Add score" },
  {
    route: "/evaluators/$evaluatorId",
    name: "evaluator",
    path: () => `/evaluators/${ids.evaluator}`,
    ready: ".cm-content",
  },
  {
    route: "/evaluators/$evaluatorId",
    name: "evaluator-versions",
    path: () => `/evaluators/${ids.evaluator}?tab=versions`,
    ready: "text=Compare version",
  },
  {
    route: "/evaluators/$evaluatorId",
    name: "evaluator-alignment",
    path: () => `/evaluators/${ids.evaluator}?tab=alignment`,
    ready: "text=Label judged runs",
  },
  { route: "/experiments/", name: "experiments", path: () => "/experiments", ready: "[data-row]" },
  {
    route: "/experiments/$experimentId",
    name: "experiment",
    path: () => `/experiments/${ids.experiment}`,
    ready: "text=Failures",
  },
  { route: "/annotation-queues/", name: "annotation-queues", path: () => "/annotation-queues", ready: "text=Replies" },
  {
    route: "/annotation-queues/$queueId/",
    name: "annotation-queue",
    path: () => `/annotation-queues/${ids.queue}`,
    ready: "text=need your review",
  },
  {
    route: "/annotation-queues/$queueId/review",
    name: "annotation-review",
    path: () => `/annotation-queues/${ids.queue}/review`,
    ready: "text=Edit output",
  },
  { route: "/dashboards/", name: "dashboards", path: () => "/dashboards", ready: "text=Of projects" },
  {
    route: "/projects/$projectId/dashboard",
    name: "project-dashboard",
    path: () => `${project()}/dashboard`,
    ready: "text=Error rate",
  },
  { route: "/rules/", name: "rules", path: () => "/rules", ready: "text=Tags checked" },
  { route: "/alerts/", name: "alerts", path: () => "/alerts", ready: "text=Runs of an hour" },
  { route: "/alerts/$alertId", name: "alert", path: () => `/alerts/${ids.alert}`, ready: ".uplot" },
  { route: "/budgets/", name: "budgets", path: () => "/budgets", ready: "text=Models of the month" },
  { route: "/budgets/$budgetId", name: "budget", path: () => `/budgets/${ids.budget}`, ready: "text=tells at 50 %" },
  { route: "/rules/$ruleId", name: "rule", path: () => `/rules/${ids.rule}`, ready: "td" },
  {
    route: "/projects/$projectId/review",
    name: "list-review",
    path: () => `${project()}/review`,
    ready: "text=Previous",
  },
  { route: "/exports/", name: "exports", path: () => "/exports", ready: "h1" },
  { route: "/exports/destinations", name: "destinations", path: () => "/exports/destinations", ready: "h1" },
];

/** Routes that other test files check on their own platforms or data, by the names of their checks. */
const ELSEWHERE: Record<string, [file: string, check: string]> = {
  "/sign-in": ["shell", "sign-in"],
  "/components": ["components", "components"],
  "/settings": ["settings", "settings-"],
  "/dashboards/$dashboardId": ["dashboards", "dashboard"],
  "/deployments/": ["deployments", "deployments"],
  "/deployments/$deploymentId": ["deployments", "deployment"],
  "/deployments/$deploymentId/dashboard": ["deployments", "deployment-dashboard"],
  "/exports/$exportId": ["exports", "export"],
  "/public/$token/r": ["sharing", "shared-trace"],
  "/public/$token/d": ["sharing", "shared-dataset"],
};

/** Addresses that LangSmith's clients print: they lead to other routes. */
const REDIRECTS: Record<string, () => [from: string, to: string]> = {
  "/o/$tenant/projects/p/$projectId/": () => [`/o/x/projects/p/${seeded.projectId}`, project()],
  "/o/$tenant/projects/p/$projectId/r/$runId": () => [
    `/o/x/projects/p/${seeded.projectId}/r/${seeded.agentRunId}`,
    trace(),
  ],
  "/prompts/$repo": () => [`/prompts/${PROMPT}?organizationId=x`, `/prompts/-/${PROMPT}`],
  "/hub/$owner/$repo": () => [`/hub/-/${PROMPT}:production`, `/prompts/-/${PROMPT}`],
  "/o/$tenant/datasets/$datasetId/": () => [`/o/x/datasets/${seeded.datasetId}`, dataset()],
  "/o/$tenant/datasets/$datasetId/compare": () => [
    `/o/x/datasets/${seeded.datasetId}/compare?${compared()}`,
    dataset(),
  ],
};

/** Opens the pages one after another, each with late data. Returns the problems, one per line. */
async function check(pages: readonly Checked[]): Promise<string[]> {
  const { page, context, errors } = await openPage(browser);
  await observeShifts(context);
  let isLate = true;
  let asked = 0;
  await context.route("**/api/**", async (route) => {
    if (isLate) await sleep(LATE_MS * ((asked++ % 4) + 1) * 0.25);
    await route.continue().catch(() => {});
  });
  const problems: string[] = [];
  for (const checked of pages) {
    [isLate, asked] = [true, 0];
    const found = await checkLate(page, checked, () => (isLate = false)).catch((error: Error) => [error.message]);
    // cancels the page's pending requests, whose errors belong to this page
    await page.goto("about:blank");
    problems.push(...[...found, ...errors.splice(0)].map((text) => `${checked.name}: ${text}`));
  }
  await context.close();
  return problems;
}

async function checkLate(page: Page, { name, path, ready }: Checked, endLateness: () => void): Promise<string[]> {
  await page.goto(platform.url + path());
  await page.locator(ready).first().waitFor();
  const placeholders = page.locator(".mantine-Skeleton-root");
  await until(async () => (await placeholders.count()) === 0, { timeout: 15_000, interval: 50 }).catch(async () => {
    throw new Error(`still loading: ${await placeholders.first().evaluate((element) => element.outerHTML)}`);
  });
  await sleep(LATE_MS);
  const shifts = await shiftProblems(page, name);
  endLateness();
  return [...shifts, ...(await checkOpenPage(page, name, ready)), ...(await walkKeys(page))];
}

const PARTS = 4;
const part = Math.ceil(PAGES.length / PARTS);
test.each(Array.from({ length: PARTS }, (_, index) => index + 1))(
  "the pages of part %i stay in place, fit, are walked by keys, and axe finds nothing serious",
  async (number) => {
    expect(await check(PAGES.slice((number - 1) * part, number * part))).toEqual([]);
  },
  240_000,
);

test("every route is checked here or by the file that the list names", async () => {
  const tree = readFileSync(new URL("../src/route-tree.gen.ts", import.meta.url), "utf8");
  const [, block] = /interface FileRoutesByFullPath \{([^}]*)\}/.exec(tree)!;
  const routes = [...block!.matchAll(/^ {2}'([^']+)'/gm)].map(([, path]) => path!);
  expect(routes.length).toBeGreaterThan(30);
  const checked = new Set([...PAGES.map(({ route }) => route), ...Object.keys(ELSEWHERE), ...Object.keys(REDIRECTS)]);
  expect(routes.filter((path) => !checked.has(path))).toEqual([]);
  expect([...checked].filter((path) => !routes.includes(path))).toEqual([]);
  for (const [file, name] of Object.values(ELSEWHERE)) {
    const source = await readFile(new URL(`${file}.browser.test.ts`, import.meta.url), "utf8");
    expect(source, `${file}.browser.test.ts checks ${name}`).toMatch(
      new RegExp(`check(Open)?Page\\([^;]*["\`]${name}`, "s"),
    );
  }
});

test("addresses printed by LangSmith's clients open the same pages", async () => {
  const { page, context, errors } = await openPage(browser);
  for (const redirect of Object.values(REDIRECTS)) {
    const [from, to] = redirect();
    await page.goto(platform.url + from);
    await page.waitForURL((url) => url.pathname === to);
    await page.getByRole("heading", { level: 1 }).waitFor();
  }
  expect(errors).toEqual([]);
  await context.close();
});
