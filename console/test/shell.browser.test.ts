import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { checkPage, checkOpenPage, openBrowser, openPage, seriousFindings } from "./browser.ts";
import { observeShifts, shiftProblems } from "./layout-shift.ts";
import { type Platform, startPlatform } from "./platform.ts";

let platform: Platform;
let browser: Browser;
beforeAll(async () => {
  platform = await startPlatform();
  browser = await openBrowser();
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await platform?.stop();
});

test("the first page is under 300 kB compressed and interactive within a second", async () => {
  const { page, context, errors } = await openPage(browser);
  let bytes = 0;
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  session.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
  await observeShifts(context);
  await page.goto(platform.url);
  const card = page.getByRole("article", { name: "This server" });
  await card.getByText("Running").waitFor();
  const interactive = await page.evaluate(() => performance.now());
  // includes everything loaded after the page became interactive
  await page.waitForLoadState("networkidle");
  await page.evaluate(() => document.fonts.ready);
  console.log(`first page: ${(bytes / 1000).toFixed(0)} kB, ${interactive.toFixed(0)} ms`);
  expect(await page.evaluate(() => document.fonts.check("500 14px Inter"))).toBe(true);
  expect(await shiftProblems(page, "first page")).toEqual([]);
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(300_000);
  await card.getByRole("link", { name: "Playground" }).click();
  await page.waitForURL("**/a/local/playground**");
  expect(errors).toEqual([]);
  await context.close();
});

test("says that it is loading, in the reader's colors, until its scripts have arrived", async () => {
  const { page, context } = await openPage(browser);
  await page.emulateMedia({ colorScheme: "dark" });
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/assets/*.js", async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(platform.url, { waitUntil: "commit" });
  await page.getByText("Loading the console…").waitFor();
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)).toBe("rgb(26, 27, 30)");
  release();
  await page.getByRole("article", { name: "This server" }).waitFor();
  expect(await page.getByText("Loading the console…").count()).toBe(0);
  await context.close();
});

test("every path without a file serves the application, and an unknown host name is rejected", async () => {
  const deep = await fetch(`${platform.url}/a/local/threads/some.thing`);
  expect([deep.status, deep.headers.get("content-type")]).toEqual([200, expect.stringContaining("text/html")]);
  expect(deep.headers.get("content-security-policy")).toContain("default-src 'self'");
  expect((await fetch(`${platform.url}/assets/none.js`)).status).toBe(404);
  const { request } = await import("node:http");
  const status = await new Promise<number>((resolve, reject) => {
    const clientRequest = request(
      `${platform.url}/api/agent/info`,
      { headers: { host: "evil.example" } },
      (response) => {
        response.resume();
        resolve(response.statusCode!);
      },
    );
    clientRequest.on("error", reject).end();
  });
  expect(status).toBe(403);
});

test("the navigation is grouped, and a group stays closed after a reload", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(platform.url);
  const pages = page.getByRole("navigation", { name: "Pages" });
  const group = (name: string) => pages.getByRole("button", { name });
  await group("Operate").waitFor();
  expect(await pages.getByRole("button").allInnerTexts()).toEqual(["Build", "Observe", "Evaluate", "Operate"]);
  await pages.getByRole("link", { name: "Queue", exact: true }).waitFor();
  await group("Operate").click();
  await pages.getByRole("link", { name: "Queue", exact: true }).waitFor({ state: "hidden" });
  await page.reload();
  await group("Operate").waitFor();
  expect(await group("Operate").getAttribute("aria-expanded")).toBe("false");
  expect(await pages.getByRole("link", { name: "Queue", exact: true }).isVisible()).toBe(false);
  await group("Operate").click();
  await pages.getByRole("link", { name: "Queue", exact: true }).click();
  await page.waitForURL("**/a/local/queue");
  expect(errors).toEqual([]);
  await context.close();
});

test("the build has compressed bundles, a small index page, and the styles of every component", () => {
  const directory = fileURLToPath(new URL("../dist", import.meta.url));
  const files = readdirSync(directory, { recursive: true, encoding: "utf8" });
  expect(files.filter((file) => file.endsWith(".js.br")).length).toBeGreaterThan(3);
  expect(statSync(join(directory, "index.html")).size).toBeLessThan(2000);
  // Mantine's class names are hashes; app/mantine.css lists the styles of the components in use
  const classNames = (ending: string) =>
    new Set(
      files
        .filter((file) => file.endsWith(ending))
        .flatMap((file) => readFileSync(join(directory, file), "utf8").match(/\bm_[0-9a-f]{6,8}\b/g) ?? []),
    );
  const styled = classNames(".css");
  expect(styled.size).toBeGreaterThan(100);
  expect([...classNames(".js")].filter((name) => !styled.has(name))).toEqual([]);
});

test("no two bundles of the build load each other, as their code would run before what it uses", () => {
  const directory = fileURLToPath(new URL("../dist/assets", import.meta.url));
  const names = readdirSync(directory).filter((name) => name.endsWith(".js"));
  const imports = new Map(
    names.map((name) => {
      const code = readFileSync(join(directory, name), "utf8");
      return [name, [...code.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)].map(([, target]) => target!)];
    }),
  );
  expect(Math.max(...[...imports.values()].map(({ length }) => length))).toBeGreaterThan(2);
  const reach = (from: string, seen = new Set<string>()): Set<string> => {
    for (const target of imports.get(from) ?? []) if (!seen.has(target)) reach(target, seen.add(target));
    return seen;
  };
  expect(names.filter((name) => reach(name).has(name))).toEqual([]);
});

test("the overview shows the latest threads and failures", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(platform.url);
  await page.getByRole("region", { name: "Recent threads" }).getByText("No threads yet").waitFor();
  const post = async (path: string, body: unknown) =>
    (await fetch(platform.agentUrl + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }).then((response) => response.json())) as { thread_id: string };
  const steps = page.getByRole("region", { name: "First steps" });
  const done = steps.getByRole("listitem").filter({ has: page.getByLabel("Done", { exact: true }) });
  await steps.getByText("Send a message in the").waitFor();
  expect(await done.count()).toBe(0);
  for (const graph of ["agent", "agent", "approval", "failing", "failing"]) {
    const { thread_id: thread } = await post("/threads", {});
    const input = { messages: [{ role: "user", content: "Is there bread?" }], topic: "bread" };
    await post(`/threads/${thread}/runs/wait`, { assistant_id: graph, input });
  }
  // without a reload
  const threads = page.getByRole("region", { name: "Recent threads" });
  await threads.getByText("interrupted").waitFor();
  expect(await threads.getByRole("link").count()).toBe(6);
  const traces = page.getByRole("region", { name: "Traces in the last 24 hours" });
  await traces.getByRole("img", { name: "5 traces in the last 24 hours, 2 failed" }).waitFor({ timeout: 60_000 });
  expect(await checkOpenPage(page, "overview", "text=Needs review")).toEqual([]);
  // the checklist fills itself from what happened
  await steps.getByText("Every run is traced").waitFor();
  expect(await done.allInnerTexts()).toEqual(["Talk to the agent", "Break the agent"]);
  const failures = page.getByRole("region", { name: "Failures in the last 24 hours" });
  await failures.getByText("2 times").waitFor();
  await failures.getByRole("link", { name: "failing" }).click();
  await page.waitForURL("**/r/*");
  await page.getByRole("tree").waitFor();
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Overview" }).click();
  await steps.getByText("names the line").waitFor();
  await steps.getByRole("button", { name: "Dismiss first steps" }).click();
  await steps.waitFor({ state: "hidden" });
  await page.reload();
  await failures.getByRole("link", { name: "failing" }).waitFor();
  expect(await steps.count()).toBe(0);
  expect(errors).toEqual([]);
  await context.close();
});

test("the sign-in page fits at three widths, and axe finds nothing serious", async () => {
  expect(await checkPage(browser, `${platform.url}/sign-in`, "sign-in", "text=Sign in to Heddle")).toEqual([]);
});

test("the documentation is found from the account menu, searched by keys, and fits at three widths", async () => {
  const { page, context, errors } = await openPage(browser);
  const foreign: string[] = [];
  page.on("request", (request) => request.url().startsWith(platform.url) || foreign.push(request.url()));
  await page.goto(platform.url);
  await page.getByRole("button", { name: "Account and workspace" }).click();
  await page.getByRole("menuitem", { name: "Documentation" }).click();
  await page.getByRole("heading", { name: "Documentation", level: 1 }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("legal hold");
  await page.locator("#results").getByRole("link").first().waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/docs/deletion#*");
  expect(await page.getByRole("navigation").locator("[aria-current]").innerText()).toBe("Deletion and legal holds");
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await seriousFindings(page)).toEqual([]);
  }
  for (const width of [2560, 768, 390]) {
    await page.setViewportSize({ width, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  }
  expect([...errors, ...foreign]).toEqual([]);
  await context.close();
});
