/**
 * A user's browser before the real platform: `heddle dev` on the conformance suite's graphs, its trace platform and
 * the built console, driven by playwright with Debian's Chromium.
 *
 * HEDDLE_SCREENSHOTS names a directory that screenshots go to; without it none are kept.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, open, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { AxeBuilder } from "@axe-core/playwright";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { vi } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const START_MS = 120_000;
const PROGRAMS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium", "/usr/bin/google-chrome"];

export interface Platform {
  /** Of the console. */
  url: string;
  agentUrl: string;
  traceUrl: string;
  controlUrl: string;
  directory: string;
  /** Stops the server as an operator does, and starts it again on the same data and addresses. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * `dev` serves a project, `up` deployments. Addresses of what is not there are empty.
 * @param settings environment variables of the server; HEDDLE_CONSOLE_PORT chooses the console's address
 */
export async function startPlatform(
  command: "dev" | "up" = "dev",
  settings: Record<string, string> = {},
  project = "conformance/project/langgraph.json",
): Promise<Platform> {
  const [agent, trace, control, free] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const own = settings["HEDDLE_CONSOLE_PORT"] ?? free;
  // what is deployed lies inside the repository, so that projects find LangGraph without an installation
  const parent = command === "up" ? join(root, "node_modules", ".cache") : tmpdir();
  await mkdir(parent, { recursive: true });
  const directory = await mkdtemp(join(parent, "heddle-console-"));
  // Postgres does not run as root, and the user it runs as has to reach the data directory
  await chmod(directory, 0o755);
  const logFile = join(directory, "server.log");
  const args = ["cli/bin/heddle.js", command, "--data-dir", join(directory, "data"), "--trace-port", String(trace)];
  args.push("--console-port", String(own));
  if (command === "dev") args.push("--config", project, "--no-reload", "--port", String(agent));
  else args.push("--control-port", String(control));
  const env = { ...process.env, HEDDLE_CONSOLE: "true", HEDDLE_HOSTS: "1", ...settings };
  const launch = async () => {
    const log = await open(logFile, "a");
    const launched = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", log.fd, log.fd], env });
    await log.close();
    return launched;
  };
  let child = await launch();
  const url = `http://127.0.0.1:${own}`;
  const stop = async () => {
    await end(child);
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await untilServed(url, child);
  } catch (error) {
    const printed = await readFile(logFile, "utf8");
    await stop();
    throw new Error(`${(error as Error).message}\n${printed.slice(-4000)}`, { cause: error });
  }
  return {
    url,
    agentUrl: command === "dev" ? `http://127.0.0.1:${agent}` : "",
    traceUrl: `http://127.0.0.1:${trace}`,
    controlUrl: command === "up" ? `http://127.0.0.1:${control}` : "",
    directory,
    async restart() {
      await end(child);
      child = await launch();
      await untilServed(url, child);
    },
    stop,
  };
}

/** The command line on a platform's data, as an operator uses it on the machine. @returns what it prints */
export function heddle(platform: Platform, args: string[], input = ""): Promise<string> {
  const data = ["--data-dir", join(platform.directory, "data")];
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      [join(root, "cli/bin/heddle.js"), ...args, ...data],
      { timeout: 60_000 },
      (error, out, err) => (error ? reject(new Error(`${error.message}\n${out}${err}`)) : resolve(out)),
    );
    child.stdin!.end(input);
  });
}

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

/** What axe finds that is serious or critical, a line each. */
export async function seriousFindings(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(" ")} ${node.failureSummary ?? ""}`));
}

const WIDTHS = [1280, 390, 2560];

/** A page of its own at that address, looked at as {@link lookAtOpen} does. */
export async function lookAt(browser: Browser, url: string, name: string, ready: string): Promise<string[]> {
  const { page, context, errors } = await openPage(browser);
  await page.goto(url);
  const problems = await lookAtOpen(page, name, ready);
  await context.close();
  return [...problems, ...errors.map((text) => `${name}: ${text}`)];
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

async function untilServed(url: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`heddle ended with ${child.exitCode}`);
    const page = await fetch(url).catch(() => null);
    // the trace platform may take longer than the banner waits for it
    if (page?.ok && (await hasTraces(url))) return;
    await sleep(200);
  }
  throw new Error(`nothing at ${url}`);
}

async function hasTraces(url: string): Promise<boolean> {
  const about = (await (await fetch(`${url}/console.json`)).json()) as { spaces: { trace: boolean } };
  return about.spaces.trace;
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = new Promise<void>((done) => child.once("exit", () => done()));
  child.kill("SIGTERM");
  const force = setTimeout(() => child.kill("SIGKILL"), 20_000);
  await exited;
  clearTimeout(force);
}
