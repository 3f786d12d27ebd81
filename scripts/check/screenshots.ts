/**
 * Saves screenshots of every page of a running console, at three widths, light and dark:
 *
 *     node --import tsx scripts/check/screenshots.ts http://127.0.0.1:3000 DIRECTORY [name …]
 *
 * Pages of objects show the newest object of each kind; without one, the page is left out. Needs Chromium, as the
 * console's tests do.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { openBrowser, settled } from "../../console/test/browser.ts";

const [base, directory, ...wanted] = process.argv.slice(2);
if (base === undefined || directory === undefined) {
  console.error("Usage: node --import tsx scripts/check/screenshots.ts URL DIRECTORY [name …]");
  process.exit(2);
}
const WIDTHS = [1280, 390, 2560];
/** Time for data to arrive after a page has loaded, and for charts to adapt to a width. */
const LOAD_MS = 1_500;
const RESIZE_MS = 400;
/** Longest wait for placeholders to be replaced by data. */
const PLACEHOLDER_MS = 20_000;

async function read<T>(path: string, body?: object): Promise<T | null> {
  const response = await fetch(base + path, {
    method: body ? "POST" : "GET",
    headers: { "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  }).catch(() => null);
  return response?.ok ? ((await response.json()) as T) : null;
}

type Row = Record<string, string>;

/** Returns the names and paths of the pages, with the newest objects of this installation. */
async function listPages(): Promise<[name: string, path: string][]> {
  const pages: [string, string][] = [["overview", "/"]];
  const [thread] = (await read<Row[]>("/api/agent/threads/search", { limit: 1 })) ?? [];
  const [waiting] = (await read<Row[]>("/api/agent/threads/search", { limit: 1, status: "interrupted" })) ?? [];
  const [assistant] = (await read<Row[]>("/api/agent/assistants/search", { limit: 1 })) ?? [];
  for (const page of ["playground", "threads", "inbox", "queue", "assistants", "crons", "store", "webhooks"]) {
    if (assistant) pages.push([page, `/a/local/${page}`]);
  }
  if (assistant) {
    pages.push(["assistant", `/a/local/assistants/${assistant["assistant_id"]}`]);
    const id = assistant["assistant_id"];
    pages.push(["playground-compare", `/a/local/playground?assistant=${id}&versus=${id}`]);
  }
  if (waiting) pages.push(["playground-question", `/a/local/playground?thread=${waiting["thread_id"]}`]);
  if (thread) {
    const path = `/a/local/threads/${thread["thread_id"]}`;
    for (const tab of ["state", "runs", "history", "feedback"]) pages.push([`thread-${tab}`, `${path}?tab=${tab}`]);
    const [run] = (await read<Row[]>(`/api/agent/threads/${thread["thread_id"]}/runs`)) ?? [];
    if (run) pages.push(["thread-run", `${path}/runs/${run["run_id"]}`]);
  }
  pages.push(["projects", "/projects"], ["datasets", "/datasets"], ["exports", "/exports"]);
  pages.push(["destinations", "/exports/destinations"]);
  const [project] =
    (await read<Row[]>("/api/trace/api/v1/sessions?limit=1&sort_by=run_count&sort_by_desc=true&reference_free=true")) ??
    (await read<Row[]>("/api/trace/api/v1/sessions?limit=1&reference_free=true")) ??
    [];
  if (project) {
    const path = `/projects/${project["id"]}`;
    pages.push(["project", path], ["project-threads", `${path}?tab=threads`], ["project-llm", `${path}?tab=llm`]);
    pages.push(["monitoring", `${path}/monitoring?before=true`]);
    const query = { session: [project["id"]], is_root: true, limit: 20, select: ["id", "thread_id"] };
    const found = await read<{ runs: Row[] }>("/api/trace/api/v1/runs/query", query);
    const [run] = found?.runs ?? [];
    const threaded = found?.runs.find(({ thread_id: id }) => id);
    if (run) {
      for (const view of ["run", "feedback", "metadata", "raw"]) {
        pages.push([`trace-${view}`, `${path}/r/${run["id"]}?view=${view}`]);
      }
      pages.push(["compare", `/compare?a=${run["id"]}`]);
    }
    if (threaded) {
      pages.push(["thread-replay", `${path}?tab=threads&thread=${encodeURIComponent(threaded["thread_id"]!)}`]);
    }
  }
  const [dataset] = (await read<Row[]>("/api/trace/api/v1/datasets?limit=1")) ?? [];
  if (dataset) {
    const path = `/datasets/${dataset["id"]}`;
    pages.push(["dataset", path], ["experiments", `${path}?tab=experiments`], ["versions", `${path}?tab=versions`]);
    const compared = await read<Row[]>(`/api/trace/api/v1/sessions?reference_dataset=${dataset["id"]}&limit=2`);
    const ids = (compared ?? []).map(({ id }) => id).join(",");
    if (ids !== "") pages.push(["experiments-compared", `${path}?tab=compare&selectedSessions=${ids}`]);
  }
  pages.push(["prompts", "/prompts"]);
  const prompts = await read<{ repos: Row[] }>("/api/trace/api/v1/repos?limit=1&has_commits=true&repo_type=prompt");
  const [prompt] = prompts?.repos ?? [];
  for (const tab of prompt ? ["prompt", "commits", "compare", "tags", "metrics", "readme", "settings"] : []) {
    pages.push([`prompt-${tab}`, `/prompts/-/${prompt!["repo_handle"]}?tab=${tab}`]);
  }
  const deployed = await read<{ resources: Row[] }>("/api/control/v2/deployments?limit=1");
  if (deployed) pages.push(["deployments", "/deployments"]);
  for (const tab of deployed?.resources[0] ? ["revisions", "logs", "instances", "environment", "resources"] : []) {
    pages.push([`deployment-${tab}`, `/deployments/${deployed!.resources[0]!["id"]}?tab=${tab}`]);
  }
  for (const tab of ["workspaces", "members", "roles", "keys", "prompts", "webhooks", "limits", "audit", "account"]) {
    pages.push([`settings-${tab}`, `/settings?tab=${tab}`]);
  }
  pages.push(["sign-in", "/sign-in"], ["not-found", "/no-such-page"]);
  return pages.filter(([name]) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
}

await mkdir(directory, { recursive: true });
const browser = await openBrowser();
try {
  const context = await browser.newContext({ reducedMotion: "reduce" });
  const page = await context.newPage();
  for (const [name, path] of await listPages()) {
    await page.setViewportSize({ width: WIDTHS[0]!, height: 900 });
    await page.goto(base + path);
    await page.waitForTimeout(LOAD_MS);
    const placeholder = page.locator(".mantine-Skeleton-root").first();
    await placeholder.waitFor({ state: "detached", timeout: PLACEHOLDER_MS }).catch(() => {});
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: width < 600 ? 844 : 900 });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await settled(page, colorScheme);
        await page.waitForTimeout(RESIZE_MS);
        await page.screenshot({ path: join(directory, `${name}-${width}-${colorScheme}.png`) });
      }
    }
    console.log(`${name} ${path}`);
  }
} finally {
  await browser.close();
}
