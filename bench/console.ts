// npm run bench -- console: the time until each route of the console's traces shows its first data, in a project of
// 1,000,000 runs, and the processor time of the trace platform for it: when it is opened by its address, and by a click on
// a link that was pointed at before. The files are in the browser's cache, as at every visit but the first. Options:
// --runs N, --samples N, --quick (100,000 runs), --data DIR (kept; `-- query` can share it). Needs Chromium, as the
// console's tests do. Exits with 1 when a target is missed.
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";

import { openBrowser } from "../console/test/browser.ts";
import { processorTime } from "./processes.ts";
import { seedDirectory, startSeededTrace } from "./seeded-trace.ts";
import { startConsole } from "./servers.ts";
import { median, percentile } from "./statistics.ts";

const { values: options } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    data: { type: "string" },
    runs: { type: "string" },
    samples: { type: "string" },
  },
});
const RUNS = Number(options.runs ?? (options.quick ? 100_000 : 1_000_000));
const SAMPLES = Number(options.samples ?? 7);
/** Time from the page's first request for data, or from the click, until they are shown: by the size of the project. */
const DATA_MS = RUNS > 100_000 ? 150 : 60;
/** Time until the page can be used. */
const INTERACTIVE_MS = 600;
const ENV = { HEDDLE_RATE_LIMITS: "off", UV_THREADPOOL_SIZE: "8" };

/** Routes, each with a selector of the data that its readers come for. */
const routes = (project: string, run: string): [name: string, path: string, data: string][] => [
  ["overview", "/", "section[aria-label^='Traces in'] a[href^='/projects/']"],
  ["projects", "/projects", "[data-row]"],
  ["project, traces", `/projects/${project}?days=30`, "[data-row]"],
  ["project, LLM calls", `/projects/${project}?tab=llm`, "[data-row]"],
  ["project, all runs", `/projects/${project}?tab=all`, "[data-row]"],
  ["project, threads", `/projects/${project}?tab=threads`, "[data-row]"],
  ["monitoring", `/projects/${project}/monitoring`, ".uplot"],
  ["trace of 1,000 runs", `/projects/${project}/r/${run}`, "[role=treeitem]"],
  ["compare", `/compare?a=${run}`, "main a[href*='/r/']"],
  ["datasets", "/datasets", "h1"],
  ["exports", "/exports", "h1"],
  ["settings", "/settings?tab=workspaces", "td"],
];

/** Links of pages, each with a selector of the data of the page behind it. */
const navigations = (project: string): [name: string, from: string, link: string, data: string][] => [
  ["projects to a project", "/projects", `[data-row] a[href*="${project}"]`, "[aria-label=Runs] [data-row]"],
  ["a project to a trace", `/projects/${project}?days=30`, "[data-row] a[href*='/r/']", "[role=treeitem]"],
  ["a project to its charts", `/projects/${project}`, "a[href*='/monitoring']", ".uplot"],
  ["overview to projects", "/", "nav a[href$='/projects']", "[aria-label=Projects] [data-row]"],
];
/** Time for which a reader points at a link before the click. */
const POINTED_MS = 250;

const { directory, end } = await seedDirectory(options.data);
const busyBefore = loadavg()[0]!;
let missed = false;
try {
  const { server: trace, project, bigTrace } = await startSeededTrace(directory, "seeded", ENV, RUNS);
  const served = await startConsole(directory, trace.url).catch(async (error: Error) => {
    await trace.stop();
    throw error;
  });
  const browser = await openBrowser();
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: "reduce" });
    const page = await context.newPage();
    console.log(
      `A project of ${RUNS.toLocaleString("en")} runs, Node ${process.version}, ${cpus().length} cores, browser on the same ` +
        `machine. Medians of ${SAMPLES}.\n`,
    );
    console.log(
      `${"route".padEnd(22)} ${"first data".padStart(12)} ${"after request".padStart(14)} ${"p95".padStart(9)} ` +
        `${"interactive".padStart(12)} ${"CPU of the queries".padStart(19)}`,
    );
    for (const [name, path, selector] of routes(project.id, bigTrace)) {
      const samples: Visit[] = [];
      for (let n = -1; n < SAMPLES; n++) {
        const before = processorTime([trace.pid]);
        await page.goto(served.url + path);
        const visit = await firstData(page, selector);
        await page.waitForLoadState("networkidle");
        if (n >= 0) samples.push({ ...visit, cpu: processorTime([trace.pid]) - before });
      }
      printVisits(name, samples);
    }
    console.log(`\n${"click, after pointing".padEnd(30)} ${"first data".padStart(12)} ${"p95".padStart(9)}`);
    for (const [name, from, link, data] of navigations(project.id)) {
      const samples: number[] = [];
      for (let n = -1; n < SAMPLES; n++) {
        await page.goto(served.url + from);
        await page.waitForSelector(link);
        await page.waitForLoadState("networkidle");
        const took = await navigate(page, link, data);
        if (n >= 0) samples.push(took);
      }
      printNavigations(name, samples);
    }
  } finally {
    await browser.close();
    await served.stop();
    await trace.stop();
  }
} finally {
  await end();
}

interface Visit {
  /** Milliseconds from the start of the navigation. */
  shownAt: number;
  /** The first request for data, which the application's code precedes; 0 for a route without one. */
  askedAt: number;
  /** When the navigation can be used. */
  interactiveAt: number;
  /** Processor time of the trace platform for all of the page's requests. */
  cpu: number;
}

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof openBrowser>>["newPage"]>>;

/** Points at the link, clicks, and returns the milliseconds from the click until the data is there. */
async function navigate(page: Page, link: string, data: string): Promise<number> {
  await page.mouse.move(1, 1);
  await page.hover(link);
  await page.waitForTimeout(POINTED_MS);
  await page.evaluate(() =>
    document.addEventListener("click", () => performance.mark("clicked"), { capture: true, once: true }),
  );
  await page.click(link);
  const found = await page.waitForFunction(
    (element) => {
      const at = performance.getEntriesByName("clicked")[0]?.startTime;
      return at !== undefined && document.querySelector(element) ? performance.now() - at : false;
    },
    data,
    { polling: "raf", timeout: 60_000 },
  );
  return (await found.jsonValue()) as number;
}

async function firstData(page: Page, selector: string): Promise<Omit<Visit, "cpu">> {
  const present = async (wanted: string): Promise<number> => {
    const found = await page.waitForFunction(
      (element) => (document.querySelector(element) ? performance.now() : false),
      wanted,
      { polling: "raf", timeout: 60_000 },
    );
    return (await found.jsonValue()) as number;
  };
  const [interactiveAt, shownAt] = await Promise.all([present("nav[aria-label=Pages] a"), present(selector)]);
  const askedAt = await page.evaluate((at) => {
    const requests = performance.getEntriesByType("resource").filter(({ name }) => name.includes("/api/"));
    return Math.min(at, ...requests.map(({ startTime }) => startTime));
  }, shownAt);
  return { shownAt, askedAt, interactiveAt };
}

function printVisits(name: string, samples: Visit[]): void {
  const waits = samples.map(({ shownAt, askedAt }) => shownAt - askedAt);
  const middle = (pick: (visit: Visit) => number) => median(samples.map(pick));
  const isMet = median(waits) < DATA_MS && middle(({ interactiveAt }) => interactiveAt) < INTERACTIVE_MS;
  if (!isMet) missed = true;
  const ms = (value: number, width: number) => `${value.toFixed(0).padStart(width - 3)} ms`;
  console.log(
    `${name.padEnd(22)} ${ms(
      middle(({ shownAt }) => shownAt),
      12,
    )} ${ms(median(waits), 14)} ` +
      `${ms(percentile(waits, 0.95), 9)} ${ms(
        middle(({ interactiveAt }) => interactiveAt),
        12,
      )} ` +
      `${ms(
        middle(({ cpu }) => cpu),
        19,
      )}   < ${DATA_MS} ms ${isMet ? "ok" : "MISSED"}`,
  );
}

function printNavigations(name: string, samples: number[]): void {
  const isMet = median(samples) < DATA_MS;
  if (!isMet) missed = true;
  const [middle, high] = [median(samples), percentile(samples, 0.95)].map((value) => value.toFixed(0));
  console.log(
    `${name.padEnd(30)} ${`${middle} ms`.padStart(12)} ${`${high} ms`.padStart(9)}   < ${DATA_MS} ms ${isMet ? "ok" : "MISSED"}`,
  );
}

if (busyBefore > 1)
  console.log(`\nThe machine was busy before (load ${busyBefore.toFixed(1)}): these measurements are worth little.`);
process.exitCode = missed ? 1 : 0;
