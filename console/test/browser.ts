/**
 * A user's browser before the real platform and its built console, driven by playwright with Debian's Chromium.
 * HEDDLE_SCREENSHOTS names a directory for screenshots; without it none are kept.
 */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { AxeBuilder } from "@axe-core/playwright";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { expect, vi } from "vitest";

const PROGRAMS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium", "/usr/bin/google-chrome"];

export async function openBrowser(): Promise<Browser> {
  const executablePath = PROGRAMS.find((path) => existsSync(path));
  if (!executablePath) throw new Error(`No Chromium: none of ${PROGRAMS.join(", ")}`);
  return await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

/** Styles that Chromium gives to text that replaces a selection in an editor: the policy of the page does not apply them. */
const OF_THE_BROWSER = /^Applying inline style[^]*sha256-(nXCYc9XlLhJpsbN6\/W64|NoU4Qtd5mDCSo\+cIr)/;

/** Opens a page and collects its errors: uncaught ones, and those reported by React and the content security policy. */
export async function openPage(
  browser: Browser,
  { width = 1280, scheme = "light" as "light" | "dark", hasWorker = false } = {},
): Promise<{ page: Page; context: BrowserContext; errors: string[] }> {
  const context = await browser.newContext({
    viewport: { width, height: width < 600 ? 844 : 900 },
    colorScheme: scheme,
    reducedMotion: "reduce",
    // it would answer requests that tests delay or count
    serviceWorkers: hasWorker ? "allow" : "block",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (message.type() !== "error") return;
    // the page shows a rejected request, and the browser logs it too
    const text = message.text();
    if (!/Failed to load resource/.test(text) && !OF_THE_BROWSER.test(text)) errors.push(text);
  });
  return { page, context, errors };
}

/**
 * Returns axe's serious and critical findings, one per line. "Legacy" is its mode for pages without frames, like these;
 * the other mode opens a second page for each check.
 * @param rules limits the check; default: all rules
 */
export async function seriousFindings(page: Page, rules?: string[]): Promise<string[]> {
  expect(page.frames()).toHaveLength(1);
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] });
  if (rules) axe.withRules(rules);
  const { violations } = await axe.analyze();
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(" ")} ${node.failureSummary ?? ""}`));
}

const WIDTHS = [1280, 390, 2560];

/** What a page is looked at in. */
export interface Look {
  /** Ending of the screenshots' names. */
  name: string;
  scheme: "light" | "dark";
  contrast?: "more";
  dir?: "rtl";
  /** Rules of axe; default: all, and none if empty. */
  rules?: string[];
}
// the other scheme differs only in its colours
const LOOKS: Look[] = [
  { name: "light", scheme: "light" },
  { name: "dark", scheme: "dark", rules: ["color-contrast"] },
];

/** Inspection page of each browser; it is reused, so that the next address loads its files from the cache. */
const pages = new WeakMap<Browser, ReturnType<typeof openPage>>();

/** Opens the address as a first-time visitor and checks the page as {@link checkOpenPage} does. */
export async function checkPage(browser: Browser, url: string, name: string, ready: string): Promise<string[]> {
  const looker = pages.get(browser) ?? openPage(browser);
  pages.set(browser, looker);
  const { page, errors } = await looker;
  const before = errors.length;
  await page.goto(url);
  const problems = await checkOpenPage(page, name, ready);
  // cancels the page's pending requests, whose errors belong to this page
  await page.goto("about:blank");
  return [...problems, ...errors.slice(before).map((text) => `${name}: ${text}`)];
}

/**
 * Checks the open page at three widths in the first look, and at one in those that only change colours. Returns the problems, one
 * per line, and writes screenshots of each combination to HEDDLE_SCREENSHOTS. The page is resized and switched between schemes, as users do it; reopening it each time would
 * take six times as long. Leaves it light and 1280 pixels wide.
 * @param ready selects an element that is present once the page is ready
 */
export async function checkOpenPage(page: Page, name: string, ready: string, looks = LOOKS): Promise<string[]> {
  const problems: string[] = [];
  const directory = process.env["HEDDLE_SCREENSHOTS"];
  if (directory) await mkdir(directory, { recursive: true });
  for (const { name: look, scheme, contrast = null, dir = "ltr", rules } of looks) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce", contrast });
    await page.evaluate((value) => (document.documentElement.dir = value), dir);
    const areSizesNew = look === looks[0]!.name || dir === "rtl";
    for (const width of areSizesNew || directory ? WIDTHS : WIDTHS.slice(0, 1)) {
      await page.setViewportSize({ width, height: width < 600 ? 844 : 900 });
      await page.locator(ready).first().waitFor();
      await settled(page, scheme);
      if (width === WIDTHS[0] && rules?.length !== 0) {
        const findings = await seriousFindings(page, rules);
        problems.push(...findings.map((text) => `${name} ${look}: ${text}`));
      }
      const tooWide = await untilItFits(page);
      if (tooWide > 0) problems.push(`${name} ${look} at ${width}: ${tooWide} px too wide`);
      if (directory)
        await page.screenshot({ path: join(directory, `${name}-${width}-${look}.png`), fullPage: looks !== LOOKS });
    }
  }
  await page.evaluate(() => (document.documentElement.dir = "ltr"));
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce", contrast: null });
  await page.setViewportSize({ width: 1280, height: 900 });
  return problems;
}

/** Waits until the scheme is applied and no transition runs: colours in transition belong to neither scheme. */
export async function settled(page: Page, scheme: "light" | "dark"): Promise<void> {
  await page.locator(`html[data-mantine-color-scheme="${scheme}"]`).waitFor({ state: "attached" });
  await page.waitForFunction(() =>
    document.getAnimations().every(({ playState, effect }) => {
      const isEndless = effect?.getComputedTiming().iterations === Number.POSITIVE_INFINITY;
      return playState !== "running" || isEndless;
    }),
  );
}

/** Returns the horizontal overflow in pixels; charts and tables adapt to a new width a moment later. */
async function untilItFits(page: Page): Promise<number> {
  const measure = () => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  // two frames, after which resize observers have been notified
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  for (const deadline = Date.now() + 3_000; ;) {
    const tooWide = await measure();
    if (tooWide <= 0 || Date.now() > deadline) return tooWide;
    await sleep(50);
  }
}

/** Waits until the browser shows something; the timeout allows for a busy machine. */
export const until: typeof vi.waitUntil = (what, options = { timeout: 30_000, interval: 50 }) =>
  vi.waitUntil(what, options);
