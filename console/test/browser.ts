/**
 * A user's browser before the real platform and its built console, driven by playwright with Debian's Chromium.
 *
 * HEDDLE_SCREENSHOTS names a directory that screenshots go to; without it none are kept.
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

/** A page whose errors fail the test that looks at them: uncaught ones, and what React and the policy complain of. */
export async function openPage(
  browser: Browser,
  { width = 1280, scheme = "light" as "light" | "dark" } = {},
): Promise<{ page: Page; context: BrowserContext; errors: string[] }> {
  const context = await browser.newContext({
    viewport: { width, height: width < 600 ? 844 : 900 },
    colorScheme: scheme,
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (message.type() !== "error") return;
    // a refused request is shown on the page, and the browser logs it too
    if (!/Failed to load resource/.test(message.text())) errors.push(message.text());
  });
  return { page, context, errors };
}

/**
 * What axe finds that is serious or critical, a line each. "Legacy" is its way for pages without frames, as ours are:
 * the other opens a second page for each look.
 */
export async function seriousFindings(page: Page): Promise<string[]> {
  expect(page.frames()).toHaveLength(1);
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] });
  const { violations } = await axe.analyze();
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(" ")} ${node.failureSummary ?? ""}`));
}

const WIDTHS = [1280, 390, 2560];

/** Of each browser the page that looks: the next address takes its files from the cache of the one before. */
const lookers = new WeakMap<Browser, ReturnType<typeof openPage>>();

/** A page at that address, of somebody who has not been here, looked at as {@link lookAtOpen} does. */
export async function lookAt(browser: Browser, url: string, name: string, ready: string): Promise<string[]> {
  const looker = lookers.get(browser) ?? openPage(browser);
  lookers.set(browser, looker);
  const { page, errors } = await looker;
  const before = errors.length;
  await page.goto(url);
  const problems = await lookAtOpen(page, name, ready);
  // what it asks for goes on until it is left, and its errors are its own
  await page.goto("about:blank");
  return [...problems, ...errors.slice(before).map((text) => `${name}: ${text}`)];
}

/**
 * The page that is open, at three widths, light and dark: what is wrong with it, a line each, and pictures into
 * HEDDLE_SCREENSHOTS. It is resized and told another scheme, as users do it; opened anew each time it would take six
 * times as long. It is left light and 1280 pixels wide.
 * @param ready selects what is there when the page is
 */
export async function lookAtOpen(page: Page, name: string, ready: string): Promise<string[]> {
  const problems: string[] = [];
  const directory = process.env["HEDDLE_SCREENSHOTS"];
  if (directory) await mkdir(directory, { recursive: true });
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: width < 600 ? 844 : 900 });
      await page.locator(ready).first().waitFor();
      await settled(page, scheme);
      if (width === 1280) problems.push(...(await seriousFindings(page)).map((text) => `${name} ${scheme}: ${text}`));
      const tooWide = await untilItFits(page);
      if (tooWide > 0) problems.push(`${name} at ${width}: ${tooWide} px too wide`);
      if (directory) await page.screenshot({ path: join(directory, `${name}-${width}-${scheme}.png`) });
    }
  }
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await page.setViewportSize({ width: 1280, height: 900 });
  return problems;
}

/** Shown in that scheme, and nothing fades any more: colours on the way are those of neither. */
async function settled(page: Page, scheme: "light" | "dark"): Promise<void> {
  await page.locator(`html[data-mantine-color-scheme="${scheme}"]`).waitFor({ state: "attached" });
  await page.waitForFunction(() =>
    document.getAnimations().every(({ playState, effect }) => {
      const isEndless = effect?.getComputedTiming().iterations === Number.POSITIVE_INFINITY;
      return playState !== "running" || isEndless;
    }),
  );
}

/** Pixels by which the page can be scrolled sideways; charts and tables follow a new width a moment later. */
async function untilItFits(page: Page): Promise<number> {
  const measure = () => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  // two frames, in which what watches its size has been told of it
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  for (const deadline = Date.now() + 3_000; ;) {
    const tooWide = await measure();
    if (tooWide <= 0 || Date.now() > deadline) return tooWide;
    await sleep(50);
  }
}

/** What a browser shows a moment later; on a busy machine a moment is long. */
export const until: typeof vi.waitUntil = (what, options = { timeout: 30_000, interval: 50 }) =>
  vi.waitUntil(what, options);
