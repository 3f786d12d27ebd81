/**
 * The page of the shared components in every look: it fits, axe finds nothing serious, and motion ends where it is not
 * wanted. HEDDLE_SCREENSHOTS names a directory for its photographs.
 */
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { checkOpenPage, openBrowser, openPage } from "./browser.ts";
import type { Seeded } from "./seed-traces.ts";
import { sharedPlatform, sharedTraces } from "./shared-platform.ts";

let browser: Browser;
let opened: Awaited<ReturnType<typeof openPage>>;
let page: Page;
let url: string;
let traces: Seeded;
const requests: string[] = [];
beforeAll(async () => {
  const platform = await sharedPlatform("open");
  url = platform.url;
  traces = await sharedTraces(platform);
  browser = await openBrowser();
  opened = await openPage(browser);
  page = opened.page;
  page.on("request", (request) => requests.push(new URL(request.url()).pathname));
  await page.goto(`${url}/components`);
  await page.locator(READY).first().waitFor();
  await page.locator(".uplot").nth(4).waitFor();
}, 180_000);
afterAll(async () => {
  await browser?.close();
});

const READY = ".react-flow__node";

test("the components fit and are accessible in light, dark, high contrast and right to left", async () => {
  const colors = ["color-contrast"];
  expect(
    await checkOpenPage(page, "components", READY, [
      { name: "light", scheme: "light" },
      { name: "dark", scheme: "dark", rules: colors },
      { name: "contrast-light", scheme: "light", contrast: "more", rules: [] },
      { name: "contrast-dark", scheme: "dark", contrast: "more", rules: [] },
      { name: "rtl", scheme: "light", dir: "rtl", rules: [] },
    ]),
  ).toEqual([]);
  expect(opened.errors).toEqual([]);
});

test("the reader's density is that of every table, also after a reload", async () => {
  const tables = page.getByRole("region", { name: "Tables" });
  const simple = tables.getByRole("table", { name: "Threads" }).getByRole("row").nth(1);
  const virtual = tables.getByRole("table", { name: "Runs" }).locator("[data-row]");
  const heights = async () => [
    await simple.evaluate((row) => Math.round(row.getBoundingClientRect().height)),
    await virtual.first().evaluate((row) => Math.round(row.getBoundingClientRect().height)),
    await virtual.evaluateAll(([a, b]) => Math.round(b!.getBoundingClientRect().top - a!.getBoundingClientRect().top)),
  ];
  expect(await heights()).toEqual([38, 38, 38]);
  await page.getByRole("button", { name: "Account and workspace" }).click();
  await page.getByRole("menuitemradio", { name: "Compact" }).click();
  await expect.poll(heights).toEqual([28, 28, 28]);
  await page.reload();
  await virtual.first().waitFor();
  expect(await heights()).toEqual([28, 28, 28]);
  await tables.getByText("comfortable", { exact: true }).click();
  await expect.poll(heights).toEqual([38, 38, 38]);
});

test("numbers are before their units on a page that is read from the right", async () => {
  await page.evaluate(() => (document.documentElement.dir = "rtl"));
  const places = await page
    .getByRole("region", { name: "Tables" })
    .getByText(/^1\.2 s$/)
    .evaluateAll((elements) =>
      elements.map((element) => {
        const text = [...element.childNodes].find((node) => node.nodeType === Node.TEXT_NODE)!;
        const left = (index: number) => {
          const range = document.createRange();
          range.setStart(text, index);
          range.setEnd(text, index + 1);
          return range.getBoundingClientRect().left;
        };
        return left(0) < left(text.textContent!.length - 1);
      }),
    );
  await page.evaluate(() => (document.documentElement.dir = "ltr"));
  expect(places).toEqual([true, true]);
});

test("the samples need no data of the trace platform", () => {
  expect(requests.filter((path) => /^\/api\/trace\/.*(runs|sessions|datasets)/.test(path))).toEqual([]);
});

test("motion runs, and ends with reduced motion", async () => {
  const running = () => page.evaluate(() => document.getAnimations().filter((it) => it.playState === "running").length);
  await page.emulateMedia({ reducedMotion: "no-preference" });
  await expect.poll(running).toBeGreaterThan(3);
  await page.emulateMedia({ reducedMotion: "reduce" });
  await expect.poll(running, { timeout: 2_000 }).toBe(0);
});

test("with forced colours, selection is an outline, and colours that are data stay", async () => {
  await page.emulateMedia({ forcedColors: "active" });
  const style = (selector: string, property: "outlineStyle" | "backgroundColor") =>
    page
      .locator(selector)
      .first()
      .evaluate((element, name) => getComputedStyle(element)[name], property);
  expect(await style('[data-row][aria-selected="true"]', "outlineStyle")).toBe("solid");
  const canvas = await style("body", "backgroundColor");
  for (const part of [".mantine-Progress-section", ".mantine-Switch-track", '[data-sample="Status"] [aria-hidden]']) {
    expect([part, await style(part, "backgroundColor")]).not.toEqual([part, canvas]);
  }
  await page.emulateMedia({ forcedColors: "none" });
});

test("the roles of the tokens have their own colours", async () => {
  const colors = await page.evaluate(() => {
    const style = getComputedStyle(document.documentElement);
    return ["brand", "link", "selection", "focus", "success", "warning", "danger", "info", "series-1"].map((name) =>
      style.getPropertyValue(`--heddle-${name}`),
    );
  });
  expect(colors.every((color) => /^#[\da-f]{6}$/.test(color))).toBe(true);
  expect(new Set(colors).size).toBe(colors.length);
});

test("a phone shows a project's runs in the upper half, and the filters of each page behind a button", async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${url}/projects/${traces.projectId}`);
  await page.locator("[data-row]").first().waitFor();
  expect((await page.getByRole("table", { name: "Runs" }).boundingBox())!.y).toBeLessThan(844 / 2);
  const behind: [path: string, filter: Locator][] = [
    [`/projects/${traces.projectId}`, page.getByRole("button", { name: "Quick filters" })],
    ["/projects", page.getByText("Include experiments")],
    ["/prompts", page.getByLabel("Filter by type")],
    ["/settings?tab=audit", page.getByLabel("Resource", { exact: true })],
    ["/a/local/assistants", page.getByLabel("Graph", { exact: true })],
    ["/a/local/webhooks", page.getByLabel("Run ID")],
    ["/a/local/store", page.getByLabel("Filter by value")],
    [`/projects/${traces.projectId}/monitoring`, page.getByLabel("Group by", { exact: true })],
    [`/projects/${traces.projectId}/dashboard`, page.getByText("Draw previous period")],
  ];
  for (const [path, filter] of behind) {
    await page.goto(url + path);
    const button = page.getByRole("button", { name: "Filters", exact: true });
    await button.waitFor();
    expect([path, await filter.first().isVisible()]).toEqual([path, false]);
    await button.click();
    await filter.first().waitFor();
  }
});

test("a wide screen does not stretch the overview's cards, and a card is as high as its content", async () => {
  await page.setViewportSize({ width: 2560, height: 900 });
  await page.goto(url);
  const card = page.getByRole("article", { name: "This server" });
  await card.getByRole("link", { name: "Queue" }).waitFor();
  const { width, height } = (await card.boundingBox())!;
  expect(width).toBeLessThan(900);
  expect(height).toBeLessThan(180);
});

test("the JSON of a dataset is monospaced", async () => {
  await page.goto(`${url}/datasets/${traces.datasetId}`);
  const value = page.getByText('{"double":10}');
  expect(await value.evaluate((element) => getComputedStyle(element).fontFamily)).toMatch(/^"?JetBrains Mono/);
});
