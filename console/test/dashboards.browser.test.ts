/** What got worse yesterday and why, in a few clicks; and a dashboard of one's own. */
import { readFile } from "node:fs/promises";

import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { checkOpenPage, openBrowser, openPage } from "./browser.ts";
import { type SharedPlatform, sharedPlatform } from "./shared-platform.ts";
import { askTraces, timedRun } from "./timed-runs.ts";

let platform: SharedPlatform;
let browser: Browser;

const RUN = crypto.randomUUID().slice(0, 8);
const PROJECT = `worse ${RUN}`;
const DAY = 86_400_000;
const START = Date.now() - 2 * DAY;
const SIZE = 480;

const trace = (path: string, body?: object) => askTraces(platform, path, body);
const run = (start: number, seconds: number, fields: Record<string, unknown>, parent?: Record<string, unknown>) =>
  timedRun(PROJECT, start, seconds, fields, parent);

/** Three causes on the second day: a plan fails, a new revision is slow, a model is expensive. */
beforeAll(async () => {
  platform = await sharedPlatform("open");
  browser = await openBrowser();
  const post = Array.from({ length: SIZE }, (_, i) => {
    const isNow = i >= SIZE / 2;
    const plan = ["free", "team", "pro"][i % 3]!;
    const revision = isNow && i % 4 === 1 ? "r2" : "r1";
    const model = i % 5 < 2 ? "large" : "small";
    const noise = ((i * 7919) % 100) / 100;
    const root = run(START + 60_000 + i * ((2 * DAY - 240_000) / SIZE), (revision === "r2" ? 7 : 2) + noise, {
      extra: { metadata: { plan, revision_id: revision } },
      ...(((isNow && plan === "pro" && i % 2 === 0) || i % 89 === 0) && { error: "TimeoutError: no" }),
    });
    const cost = (model === "large" ? (isNow ? 0.9 : 0.3) : 0.1) + noise / 100;
    const usage_metadata = { input_tokens: 9, output_tokens: 1, total_tokens: 10, total_cost: cost };
    const call = {
      name: "model",
      run_type: "llm",
      outputs: { usage_metadata },
      extra: { metadata: { ls_model_name: model } },
    };
    return [root, run(Date.parse(root.start_time), 0.5, call, root)];
  }).flat();
  await trace("/runs/batch", { post });
}, 180_000);
afterAll(async () => {
  await browser?.close();
});

test("plays what got worse yesterday and why, in at most five clicks", { timeout: 60_000 }, async () => {
  const { page, errors } = await openPage(browser);
  await page.goto(platform.url);
  let clicks = 0;
  const click = async (target: Locator) => {
    clicks++;
    await target.click();
  };
  await click(page.getByRole("link", { name: "Dashboards" }));
  await click(page.getByRole("link", { name: PROJECT }));
  const panel = page.getByRole("region", { name: "What got worse" });
  await panel.getByText(/Error rate rose from .* points\)/).waitFor();
  await panel
    .getByText(/of the change is in traces with plan pro: /)
    .first()
    .waitFor();
  await panel
    .getByText(/traces with revision r2: .*new in this period/)
    .first()
    .waitFor();
  await panel
    .getByText(/traces with model large: /)
    .first()
    .waitFor();
  await click(panel.getByRole("link", { name: "Failed runs with plan pro" }));
  await page.waitForURL(/plan/);
  await click(page.locator("[data-row]").first());
  await page.getByText("TimeoutError: no").first().waitFor();
  expect(clicks).toBeLessThanOrEqual(5);
  expect(errors).toEqual([]);
  await page.context().close();
});

test("builds a dashboard: adds, sizes, moves, exports and shares charts", { timeout: 90_000 }, async () => {
  const { page, errors } = await openPage(browser);
  await page.goto(`${platform.url}/dashboards`);
  await page.getByRole("button", { name: "New dashboard" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill(`Team ${RUN}`);
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByText("No charts yet").waitFor();
  const add = async (title: string, display?: string) => {
    await page.getByRole("button", { name: "Add chart" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Title").fill(title);
    if (display !== undefined) {
      await form.getByLabel("Show as").click();
      await page.getByRole("option", { name: display, exact: true }).click();
    }
    await form.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("region", { name: title }).first().waitFor();
  };
  await add("First");
  await add("Second", "Number");
  await add("Heat", "Heat map of latency");
  await page.getByRole("button", { name: "Add chart" }).click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Title").fill("Queue");
  await form.getByLabel("Of", { exact: true }).click();
  await page.getByRole("option", { name: "Agents", exact: true }).click();
  await form.getByLabel("Metrics").click();
  await page.getByRole("option", { name: "Waiting runs", exact: true }).click();
  // closes the list; the next field would open one of its own
  await form.getByLabel("Title").click();
  await form.getByLabel("Group by").click();
  await page.getByRole("option", { name: "Deployment", exact: true }).click();
  await form.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("region", { name: "Queue" }).waitFor();
  const titles = () =>
    page.locator("section section").evaluateAll((charts) => charts.map((chart) => chart.getAttribute("aria-label")));
  const handle = page.getByRole("button", { name: /^Move Second/ });
  await handle.focus();
  await page.keyboard.press("ArrowLeft");
  await expect.poll(titles).toEqual(["Second", "First", "Heat", "Queue"]);
  await handle.dragTo(page.getByRole("region", { name: "Heat" }));
  await expect.poll(titles).toEqual(["First", "Heat", "Second", "Queue"]);
  const menu = async (title: string, item: string) => {
    await page.getByRole("button", { name: `Actions of ${title}` }).click();
    await page.getByRole("menuitem", { name: item }).click();
    // it fades out, and would take the next click
    await expect.poll(() => page.getByRole("menuitem").count()).toBe(0);
  };
  await menu("First", "Two thirds wide");
  const [csv] = await Promise.all([page.waitForEvent("download"), menu("First", "Download CSV")]);
  expect(await readFile(await csv.path(), "utf8")).toMatch(/^time,Count\r\n\d{4}-/);
  await add("Totals", "Table");
  for (const title of ["Heat", "First", "Second", "Totals"]) {
    const [image] = await Promise.all([page.waitForEvent("download"), menu(title, "Download PNG")]);
    expect(image.suggestedFilename()).toBe(`${title}.png`);
    expect(await drawnBelowTitle(page, await readFile(await image.path()))).toBeGreaterThan(50);
  }
  await page.reload();
  await page.getByRole("region", { name: "Heat" }).waitFor();
  await expect.poll(titles).toEqual(["First", "Heat", "Second", "Queue", "Totals"]);
  expect(await checkOpenPage(page, "dashboard", "text=Add chart")).toEqual([]);
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.waitForURL(/\/dashboards$/);
  expect(errors).toEqual([]);
  await page.context().close();
});

test(
  "an own dashboard marks new revisions, and a filter of all charts is not stored",
  { timeout: 60_000 },
  async () => {
    const { id: project } = await projectNamed(PROJECT);
    const { id: section } = (await trace("/charts/section", { title: `Own ${RUN}` })) as { id: string };
    const create = (title: string, body: object) =>
      trace("/charts/create", { title, chart_type: "line", section_id: section, ...body });
    await create("Traces", {
      common_filters: { session: [project], filter: "eq(is_root, true)" },
      series: [{ name: "n", metric: "run_count", filters: { filter: 'neq(name, "other")' } }],
    });
    await create("Agents", { series: [{ name: "a", metric: "agent_run_count" }] });
    const stored = async () => {
      const { charts } = (await trace(`/charts/section/${section}`, { omit_data: true })) as { charts: Stored[] };
      return charts.map(({ title, common_filters, series }) => [
        title,
        common_filters,
        series.map(({ metric, filters, group_by }) => ({ metric, filters, group_by })),
      ]);
    };
    const before = await stored();
    const { page, errors } = await openPage(browser);
    const search = new URLSearchParams({ last: "7d", filter: 'eq(name, "agent")', group: "name" });
    await page.goto(`${platform.url}/dashboards/${section}?${search.toString()}`);
    await page.getByRole("region", { name: "Agents" }).getByText("The filter does not apply to agents").waitFor();
    const chart = page.getByRole("region", { name: "Traces" });
    expect(await chart.getByText("The filter does not apply").count()).toBe(0);
    const plot = chart.locator(".u-over");
    await plot.waitFor();
    const { width, height } = (await plot.boundingBox())!;
    const found = new Set<string>();
    const marker = chart.getByText(/^new revision/);
    await expect
      .poll(
        async () => {
          for (let x = 1; x < width; x += 4) {
            await plot.hover({ position: { x, y: height / 2 } });
            for (const text of await marker.allTextContents()) found.add(text);
          }
          return [...found].toSorted().join(", ");
        },
        { timeout: 30_000 },
      )
      .toBe(`new revision r1 of ${PROJECT}, new revision r2 of ${PROJECT}`);
    await page.getByRole("button", { name: "Actions of Traces" }).click();
    await page.getByRole("menuitem", { name: "Edit…" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Title").fill("Renamed");
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByRole("region", { name: "Renamed" }).waitFor();
    expect(await stored()).toEqual(before.map(([title, ...rest]) => [title === "Traces" ? "Renamed" : title, ...rest]));
    expect(errors).toEqual([]);
    await page.context().close();
  },
);

test("a dashboard of the organization is listed, gets a chart of all workspaces, and is deleted", async () => {
  const { page, errors } = await openPage(browser);
  const sections = () => trace("/org-charts/section") as Promise<{ id: string; title: string; chart_count: number }[]>;
  await trace("/org-charts/section", { title: `First ${RUN}` });
  await page.goto(`${platform.url}/dashboards`);
  await page.getByRole("button", { name: "New dashboard of the organization" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill(`Every ${RUN}`);
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("heading", { name: `Every ${RUN}` }).waitFor();
  await page.getByRole("button", { name: "Add chart" }).click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Title").fill("Everywhere");
  await form.getByLabel("Workspace").waitFor();
  await form.getByLabel("Metrics").click();
  await page.getByRole("option", { name: "Cost", exact: true }).waitFor();
  // no option of an organization is a metric of feedback
  expect(await page.getByRole("option", { name: /^Feedback/ }).count()).toBe(0);
  await form.getByLabel("Title").click();
  await form.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("region", { name: "Everywhere" }).waitFor();
  expect(await sections()).toContainEqual(expect.objectContaining({ title: `Every ${RUN}`, chart_count: 1 }));
  await page.goto(`${platform.url}/dashboards`);
  const list = page.getByRole("table", { name: "Dashboards of the organization" });
  await list.getByRole("link", { name: `First ${RUN}` }).waitFor();
  expect(await page.getByRole("table", { name: "Dashboards of the workspace" }).getByText(`Every ${RUN}`).count()).toBe(
    0,
  );
  await list.getByRole("link", { name: `Every ${RUN}` }).click();
  await page.getByRole("region", { name: "Everywhere" }).waitFor();
  await page.getByRole("button", { name: "More", exact: true }).click();
  expect(await page.getByRole("menuitem", { name: "Duplicate" }).count()).toBe(0);
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.waitForURL(/\/dashboards$/);
  expect((await sections()).map(({ title }) => title)).toEqual([`First ${RUN}`]);
  expect(errors).toEqual([]);
  await page.context().close();
});

interface Stored {
  title: string;
  common_filters: object;
  series: { metric: string; filters: object; group_by: object }[];
}

async function projectNamed(name: string): Promise<{ id: string }> {
  const [found] = (await trace(`/sessions?name=${encodeURIComponent(name)}`)) as { id: string }[];
  return found!;
}

/** Returns how many pixels of an image below its title differ from the background. */
function drawnBelowTitle(page: Page, image: Buffer): Promise<number> {
  return page.evaluate(
    async (url) => {
      const drawn = new Image();
      drawn.src = url;
      await drawn.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [drawn.width, drawn.height];
      const context = canvas.getContext("2d")!;
      context.drawImage(drawn, 0, 0);
      const top = 34 * devicePixelRatio;
      const pixels = new Uint32Array(context.getImageData(0, top, drawn.width, drawn.height - top).data.buffer);
      return pixels.filter((pixel) => pixel !== pixels[0]).length;
    },
    `data:image/png;base64,${image.toString("base64")}`,
  );
}
