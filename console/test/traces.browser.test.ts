/** Projects, runs, traces, comparisons, shared links and datasets, on traces that the official client wrote. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

import { Client as AgentClient } from "@langchain/langgraph-sdk";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { machineFactor } from "../../test/crash/machine.ts";
import { checkOpenPage, openBrowser, openPage, seriousFindings, until } from "./browser.ts";
import { place, type Seeded, seedLargeTrace, send } from "./seed-traces.ts";
import { type SharedPlatform, sharedPlatform, sharedTraces } from "./shared-platform.ts";

let platform: SharedPlatform;
let browser: Browser;
let seeded: Seeded;
beforeAll(async () => {
  platform = await sharedPlatform("open");
  browser = await openBrowser();
  seeded = await sharedTraces(platform);
}, 180_000);
afterAll(async () => {
  await browser?.close();
});

const at = (path: string) => platform.url + path;
const projectPage = (search = "") => at(`/projects/${seeded.projectId}${search}`);
const runRows = (page: Page) => page.getByRole("table", { name: "Runs" }).locator("[data-row]");
const filterEditor = (page: Page) => page.getByRole("textbox", { name: "Filter expression" });

test("lists projects with their statistics, and creates, renames, searches and deletes them", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(at("/projects"));
  const row = page.getByRole("row", { name: /Shop assistant/ });
  await row.waitFor();
  // statistics arrive after the list
  await row.getByText("15%").waitFor();
  expect(await row.getByRole("cell").allInnerTexts()).toEqual(
    expect.arrayContaining(["Shop assistant", "61", "15%", "5K", "$0.1010"]),
  );
  await page.getByRole("button", { name: "New project" }).click();
  await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("Fresh");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("button", { name: "Actions for Fresh" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("Shop assistant");
  await page.getByRole("button", { name: "Save" }).click();
  // the name is already in use
  await page.getByRole("dialog").getByRole("alert").waitFor();
  await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("Renamed");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("link", { name: "Renamed" }).waitFor();

  await page.getByRole("textbox", { name: "Search projects by name" }).fill("renam");
  await page.waitForURL(/text=renam/);
  await until(async () => (await page.locator("[data-row]").count()) === 1, 10_000);
  await page.getByRole("button", { name: "Actions for Renamed" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const go = page.getByRole("dialog").getByRole("button", { name: "Delete" });
  expect(await go.isDisabled()).toBe(true);
  await page.getByRole("textbox", { name: /Type Renamed/ }).fill("Renamed");
  await go.click();
  await page.getByText("No matching projects").waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("shows traces whose root has not arrived, and runs whose end has not", async () => {
  const now = Date.now();
  const root = place({ id: crypto.randomUUID(), name: "gateway", run_type: "chain", start: now - 9000, end: now });
  const usage_metadata = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };
  const agent = place({
    id: crypto.randomUUID(),
    name: "agent below a gateway",
    run_type: "llm",
    start: now - 8000,
    end: now - 7000,
    parent: root,
    more: { outputs: { usage_metadata } },
  });
  const start = now - 30 * 3_600_000;
  const killed = place({ id: crypto.randomUUID(), name: "killed", run_type: "chain", start, end: null });
  await send(seeded.client, "Rootless", [agent, killed]);
  const { id } = await seeded.client.readProject({ projectName: "Rootless" });
  const { page, context, errors } = await openPage(browser);
  await page.goto(at(`/projects/${id}?last=7d`));
  await until(async () => (await runRows(page).count()) === 2, 20_000);
  const row = runRows(page).filter({ hasText: "agent below a gateway" });
  await row.getByText("no root").waitFor();
  await page.getByText("2 traces").waitFor();
  await page.goto(at(`/projects/${id}/r/${root.id}`));
  await page.waitForURL(new RegExp(agent.id));
  await page.getByText("The root of this trace has not arrived").waitFor();
  await page.goto(at(`/projects/${id}/r/${killed.id}`));
  await page.getByText("The end of this run has not arrived").waitFor();
  await send(seeded.client, "Rootless", [root]);
  await page.goto(at(`/projects/${id}/r/${root.id}`));
  await page.getByRole("heading", { name: "gateway" }).first().waitFor();
  expect(await page.getByText("The root of this trace").count()).toBe(0);
  expect(errors).toEqual([]);
  await context.close();
});

test("completes a filter, shows its errors, and keeps it in the address", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(projectPage());
  await runRows(page).first().waitFor();
  await filterEditor(page).click();
  await page.keyboard.type("e");
  const options = page.locator(".cm-tooltip-autocomplete [role=option]");
  await options.filter({ hasText: /^eq/ }).waitFor();
  await page.keyboard.type("q(sta");
  await options.filter({ hasText: "status" }).click();
  await page.keyboard.press("Tab");
  const written = async () => (await filterEditor(page).innerText()).trim();
  expect(await written()).toContain("status");

  await filterEditor(page).fill('eq(statu, "error")');
  await page.getByText(/At character 4: there is no field "statu"/).waitFor();
  await filterEditor(page).fill("");
  await page.keyboard.type('eq(status, "error")');
  await page.getByText(/there is no field/).waitFor({ state: "detached" });
  // longer than the editor waits before it offers completions
  await page.waitForTimeout(500);
  expect(await options.count()).toBe(0);
  await filterEditor(page).press("Enter");
  await page.waitForURL(/filter=/);
  expect(await written()).toBe('eq(status, "error")');
  await page.keyboard.press("Tab");
  expect(await filterEditor(page).evaluate((editor) => editor.contains(document.activeElement))).toBe(false);
  await page.getByLabel("Metrics").getByText("9 traces").waitFor();
  await until(async () => (await runRows(page).count()) === 9, 10_000);

  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(page.url());
  // without HTTPS, and not on localhost, a page has no clipboard API
  await page.evaluate(async () => {
    await navigator.clipboard.writeText("");
    Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true });
  });
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  const copied = await page.evaluate(() => {
    delete (navigator as Partial<Navigator> as { clipboard?: Clipboard }).clipboard;
    return navigator.clipboard.readText();
  });
  expect(copied).toBe(page.url());

  // the same address in another tab, then combined with a quick filter
  const shared = await openPage(browser);
  await shared.page.goto(page.url());
  await shared.page.getByLabel("Metrics").getByText("9 traces").waitFor();
  await shared.page.getByRole("button", { name: "Quick filters" }).click();
  await shared.page.getByRole("button", { name: /^returns/ }).click();
  await shared.page.waitForURL(/returns/);
  await until(async () => (await runRows(shared.page).count()) === 3, 10_000);
  expect((await filterEditor(shared.page).innerText()).trim()).toBe('and(eq(status, "error"), eq(name, "returns"))');
  await context.close();
  await shared.context.close();
  expect([...errors, ...shared.errors]).toEqual([]);
});

test("a filter is built of rows of conditions, which show the same as its text", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(projectPage());
  await runRows(page).first().waitFor();
  await page.getByRole("button", { name: "Conditions" }).click();
  const row = (n: number) => page.getByRole("group", { name: `Condition ${n}`, exact: true });
  const written = async () => (await filterEditor(page).innerText()).trim();
  await row(1).getByLabel("Value").fill("error");
  await page.getByRole("option", { name: "error", exact: true }).click();
  await page.getByRole("button", { name: "Add condition" }).click();
  await row(2).getByLabel("Value").fill("returns");
  await row(2).getByLabel("Value").press("Enter");
  await page.waitForURL(/filter=/);
  expect(await written()).toBe('and(eq(status, "error"), eq(name, "returns"))');
  await until(async () => (await runRows(page).count()) === 3, 10_000);
  // the text changes the rows
  await filterEditor(page).fill("gte(latency, 4)");
  await expect.poll(() => row(1).getByLabel("Field").inputValue()).toBe("Latency (seconds)");
  expect([await row(1).getByLabel("Value").inputValue(), await row(2).count()]).toEqual(["4", 0]);
  expect(await seriousFindings(page)).toEqual([]);
  await filterEditor(page).fill('or(eq(status, "error"), gte(latency, 4))');
  await page.getByText("says more than rows of conditions can").waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("a view keeps filter, sort order and columns for others, and filters of the browser become views", async () => {
  const { page, context, errors } = await openPage(browser);
  const name = `dear returns ${Date.now()}`;
  await page.goto(`${projectPage()}?filter=${encodeURIComponent('eq(name, "returns")')}`);
  await runRows(page).first().waitFor();
  const shown = await runRows(page).count();
  const projectId = new URL(page.url()).pathname.split("/")[2]!;
  const old = { tab: "traces", filter: 'eq(status, "error")', trace_filter: "", tree_filter: "", text: "" };
  await page.evaluate(
    ([key, value]) => localStorage.setItem(key!, value!),
    [`heddle.filters.${projectId}`, JSON.stringify([{ ...old, name: `${name} kept` }])],
  );
  await page.reload();
  await page.getByRole("columnheader", { name: "Cost" }).getByRole("button").click();
  await page.waitForURL(/sort=total_cost/);
  await page.getByRole("columnheader", { name: "Cost" }).and(page.locator("[aria-sort=descending]")).waitFor();
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("button", { name: "Save as views" }).click();
  await page.getByRole("button", { name: `${name} kept`, exact: true }).waitFor();
  expect(await page.evaluate((key) => localStorage.getItem(key), `heddle.filters.${projectId}`)).toBe("[]");
  await page.getByRole("textbox", { name: "View name" }).fill(name);
  await page.getByText("Share with the workspace").click();
  await page.getByRole("button", { name: "Save as new" }).click();
  await page.getByRole("button", { name: `View: ${name}` }).waitFor();
  await page.waitForURL(/view=/);
  const view = new URL(page.url()).searchParams.get("view")!;

  // a change is marked, and saved for everyone
  await page.getByRole("columnheader", { name: "Cost" }).getByRole("button").click();
  await page.getByText("Changed", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Changed", { exact: true }).waitFor({ state: "detached" });

  // elsewhere a link to the view suffices
  const other = await openPage(browser);
  await other.page.goto(`${projectPage()}?view=${view}`);
  await other.page.getByRole("button", { name: `View: ${name}` }).waitFor();
  await other.page.waitForURL(/desc=false/);
  await until(async () => (await runRows(other.page).count()) === shown, 10_000);
  await other.page
    .getByRole("columnheader", { name: "Cost" })
    .and(other.page.locator("[aria-sort=ascending]"))
    .waitFor();
  expect(await other.page.getByText("Changed", { exact: true }).count()).toBe(0);
  await other.page.getByRole("button", { name: `View: ${name}` }).click();
  await other.page.getByRole("button", { name: `Delete view ${name}`, exact: true }).click();
  await other.page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await other.page.getByRole("button", { name: "Views", exact: true }).waitFor();
  expect([...errors, ...other.errors]).toEqual([]);
  await other.context.close();
  await context.close();
});

test("sorts by latency, tokens and cost, and names the models of calls", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(projectPage());
  await runRows(page).first().waitFor();
  const cells = async (label: string) => {
    const heads = await page.getByRole("columnheader").allInnerTexts();
    const index = heads.findIndex((head) => head.trim().startsWith(label));
    const rows = await runRows(page).all();
    return Promise.all(rows.map(async (row) => (await row.getByRole("cell").nth(index).innerText()).trim()));
  };
  const dollars = (texts: string[]) => texts.map((text) => Number(text.replace(/[$,<]/g, "")) || 0);
  for (const descending of [true, false]) {
    await page.getByRole("columnheader", { name: "Cost" }).getByRole("button").click();
    await page.waitForURL(descending ? /sort=total_cost/ : /desc=false/);
    await until(async () => {
      const costs = dollars(await cells("Cost")).filter((cost) => cost > 0);
      const sorted = costs.toSorted((a, b) => (descending ? b - a : a - b));
      return costs.length > 1 && costs.every((cost, index) => cost === sorted[index]);
    }, 10_000);
  }
  await page.getByRole("columnheader", { name: "Latency" }).getByRole("button").click();
  await page.waitForURL(/sort=latency/);
  await page.getByRole("tab", { name: "LLM calls" }).click();
  await page.getByRole("columnheader", { name: "Model" }).waitFor();
  await until(async () => (await cells("Model")).some((model) => model.length > 1), 10_000);
  expect(errors).toEqual([]);
  await context.close();
});

test("chosen columns are kept, text is searched, and the keyboard moves between rows", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(projectPage());
  await runRows(page).first().waitFor();
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("checkbox", { name: "Metadata" }).check();
  await page.getByRole("checkbox", { name: "Cost" }).uncheck();
  await page.reload();
  await page.getByRole("columnheader", { name: "Metadata" }).waitFor();
  expect(await page.getByRole("columnheader", { name: "Cost" }).count()).toBe(0);

  await page.getByRole("textbox", { name: "Search runs" }).fill("jacket");
  await page.getByLabel("Metrics").getByText("15 traces").waitFor();
  await page.getByRole("tab", { name: "LLM calls" }).click();
  await page.getByLabel("Metrics").getByText("15 calls").waitFor();
  await page.getByRole("textbox", { name: "Search runs" }).fill("");
  await page.getByRole("tab", { name: "Traces" }).click();
  await page.getByLabel("Metrics").getByText("61 traces").waitFor();

  await runRows(page).first().focus();
  await page.keyboard.press("End");
  // the last row of the first page, then rows that have arrived since
  await until(async () => Number(await page.getByRole("table").getAttribute("aria-rowcount")) === 62, 10_000);
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  await until(() => page.evaluate(() => document.activeElement?.getAttribute("aria-rowindex") === "2"));
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(`/r/${seeded.agentRunId}`));
  expect(errors).toEqual([]);
  await context.close();
});

test("lists threads, and replays one turn by turn", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(projectPage("?tab=threads"));
  await page.getByRole("row", { name: /talk-3/ }).click();
  await page.waitForURL(/thread=talk-3/);
  // the whole conversation first: the newest turn is the last
  await page.getByText("Turn 5 of 5").waitFor();
  const talk = page.getByRole("log", { name: "Conversation" });
  const turn = (n: number) => talk.getByRole("region", { name: `Turn ${n}`, exact: true });
  await turn(5).getByRole("article", { name: "User" }).waitFor();
  expect(await turn(6).count()).toBe(0);
  await page.getByRole("button", { name: "Previous turn" }).click();
  await page.getByText("Turn 4 of 5").waitFor();
  expect(await turn(5).count()).toBe(0);
  expect(new URL(page.url()).searchParams.get("turn")).toBe("4");
  await page.getByRole("list", { name: "Turns of the thread" }).getByRole("button").first().click();
  await page.getByText("Turn 1 of 5").waitFor();
  await page.locator("body").press("ArrowRight");
  await page.getByText("Turn 2 of 5").waitFor();
  await turn(2).getByRole("link", { name: "Trace" }).click();
  await page.waitForURL(/\/r\//);
  await page.goBack();
  await page.getByRole("button", { name: "Show as traces" }).click();
  await page.waitForURL(/filter=.*thread_id/);
  await page.getByLabel("Metrics").getByText("5 traces").waitFor();
  expect(await page.getByRole("columnheader", { name: "Started" }).getAttribute("aria-sort")).toBe("ascending");
  expect(errors).toEqual([]);
  await context.close();
});

test("filters by a latency range dragged on the histogram, by model and by feedback", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(projectPage());
  await page.getByLabel("Metrics").getByText("61 traces").waitFor();
  await page.getByRole("button", { name: "Latency and cost" }).click();
  const bars = page.getByRole("img", { name: /^Latency of \d+ runs/ });
  await bars.waitFor();
  const { x, y, width, height } = (await bars.boundingBox())!;
  await page.mouse.move(x + width - 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.8, y + height / 2, { steps: 4 });
  await page.mouse.up();
  await page.waitForURL(/filter=/);
  const written = () => new URL(page.url()).searchParams.get("filter")!;
  const [, from, to] = /gte\(latency, ([\d.]+)\), lt\(latency, ([\d.]+)\)/.exec(written())!;
  expect(Number(from)).toBeLessThan(Number(to));
  const shown = page.getByRole("table", { name: "Runs" }).locator("[data-row]");
  await until(async () => (await page.getByLabel("Metrics").getByText("61 traces").count()) === 0);
  expect(await shown.count()).toBeGreaterThan(0);
  // typed bounds replace those that were dragged
  await page.getByRole("textbox", { name: "From (seconds)" }).fill("4");
  await page.getByRole("button", { name: "Apply latency" }).click();
  await until(() => written().includes("gte(latency, 4)"));
  expect(written().match(/latency/g)).toHaveLength(2);

  await page.goto(projectPage());
  await page.getByRole("button", { name: "Quick filters" }).click();
  await page.getByText("Model", { exact: true }).waitFor();
  await page
    .getByRole("button", { name: /^shop-1/ })
    .first()
    .click();
  await page.waitForURL(/tree_filter=/);
  await page.getByLabel("Metrics").getByText("61 traces").waitFor();
  await page.getByRole("button", { name: /^tone: friendly/ }).click();
  await page.getByLabel("Metrics").getByText("1 trace", { exact: true }).waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("the code that an empty project offers sends a trace to it", async () => {
  const name = `empty ${crypto.randomUUID().slice(0, 8)}`;
  const { id } = await seeded.client.createProject({ projectName: name });
  const { page, context, errors } = await openPage(browser);
  await page.goto(at(`/projects/${id}`));
  const sample = page.getByRole("region", { name: "Send a trace" });
  await sample.getByText("Python", { exact: true }).click();
  expect(await sample.locator("code").innerText()).toContain("from langsmith import traceable");
  await sample.getByText("TypeScript", { exact: true }).click();
  const code = await sample.locator("code").innerText();
  expect(code).toContain(`LANGSMITH_ENDPOINT=${platform.url}/api/trace`);
  const env = Object.fromEntries([...code.matchAll(/^export (\w+)=(.*)$/gm)].map(([, key, value]) => [key, value]));
  const script = /<<'EOF'\n([\s\S]*)\nEOF/.exec(code)![1]!;
  await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], {
    env: { ...process.env, ...env, LANGSMITH_PROJECT: JSON.parse(env["LANGSMITH_PROJECT"]!) as string },
  });
  await page.getByRole("link", { name: "answer" }).waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("columns are ordered, and the order is kept", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(projectPage());
  await runRows(page).first().waitFor();
  const titles = async () => (await page.getByRole("columnheader").allInnerTexts()).map((text) => text.trim());
  expect((await titles()).slice(1, 4)).toEqual(["Name", "Input", "Output"]);
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("button", { name: "Move Output left" }).click();
  await until(async () => (await titles())[2] === "Output");
  await page.reload();
  await runRows(page).first().waitFor();
  expect((await titles()).slice(1, 4)).toEqual(["Name", "Output", "Input"]);
  expect(errors).toEqual([]);
  await context.close();
});

test("keys move to the next, previous, parent and child run from anywhere, and are listed", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(projectPage(`/r/${seeded.agentRunId}`));
  const selected = (name: string) =>
    page.locator('[role="treeitem"][aria-selected="true"]').filter({ hasText: name }).waitFor();
  await selected("shoe agent");
  const press = (key: string) => page.locator("body").press(key);
  await press("c");
  await selected("ChatShop");
  await press("j");
  await selected("find_shoes");
  await press("c");
  await selected("warehouse");
  await press("p");
  await selected("find_shoes");
  await press("k");
  await selected("ChatShop");
  await press("Shift+?");
  const keys = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await keys.getByRole("row").filter({ hasText: "Parent run" }).waitFor();
  expect(await keys.getByRole("row").count()).toBeGreaterThanOrEqual(6);
  await page.keyboard.press("Escape");
  // typing in a field is not a command
  await page.getByRole("textbox", { name: "Search in this trace" }).pressSequentially("chat");
  await selected("ChatShop");
  expect(errors).toEqual([]);
  await context.close();
});

test("the waterfall zooms and pans, says what works and what waits, and shows the critical path", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(projectPage(`/r/${seeded.agentRunId}`));
  const tree = page.getByRole("tree", { name: "Runs of the trace" });
  const row = (name: string) => tree.getByRole("treeitem", { name: new RegExp(name) }).first();
  await row("find_shoes").waitFor();
  const bar = (name: string) => row(name).locator("[data-times] > :first-child");
  const width = async (name: string) => (await bar(name).boundingBox())!.width;
  const press = (key: string) => page.locator("body").press(key);

  // 1.5 s of 4.2 s, of which 0.3 s are its own and the rest waits for two runs
  const whole = (await row("find_shoes").locator("[data-times]").boundingBox())!.width;
  expect((await width("find_shoes")) / whole).toBeCloseTo(1.5 / 4.2, 1);
  expect(await row("find_shoes").locator("[data-work]").count()).toBe(3);
  await row("find_shoes").click();
  const note = page.getByRole("note", { name: "Times of the selected run" });
  await note.getByText("300 ms own work, 1.20 s waiting for 2 runs").waitFor();
  await row("ChatShop").click();
  await note.getByText("650 ms waiting for the first token, 650 ms output").waitFor();

  // keys: zoom to the selected run, pan away from it, show everything
  const before = await width("ChatShop");
  await press("z");
  await until(async () => (await width("ChatShop")) > before * 2);
  for (let n = 0; n < 8; n++) await press("Shift+ArrowRight");
  await row("ChatShop").getByText("◂").waitFor();
  await press("0");
  await until(async () => Math.abs((await width("ChatShop")) - before) < 1);

  // the wheel zooms about the pointer; a drag over the axis selects a part, and the strip moves it
  const times = (await row("find_shoes").locator("[data-times]").boundingBox())!;
  const middle = times.x + times.width * 0.5;
  await page.mouse.move(middle, times.y + 10);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -240);
  await page.keyboard.up("Control");
  await until(async () => (await page.getByTestId("overview").count()) === 1);
  await page.getByRole("button", { name: "Show the whole trace" }).click();
  await page.getByTestId("overview").waitFor({ state: "detached" });
  const axis = { x: times.x, y: (await tree.boundingBox())!.y - 12 };
  await page.mouse.move(axis.x + times.width * 0.02, axis.y);
  await page.mouse.down();
  await page.mouse.move(axis.x + times.width * 0.2, axis.y, { steps: 4 });
  await page.mouse.up();
  await row("find_shoes").getByText("▸", { exact: true }).waitFor();
  const strip = (await page.getByTestId("overview").boundingBox())!;
  await page.mouse.move(strip.x + strip.width * 0.1, strip.y + 4);
  await page.mouse.down();
  await page.mouse.move(strip.x + strip.width * 0.5, strip.y + 4, { steps: 4 });
  await page.mouse.up();
  await until(async () => (await row("find_shoes").locator("[data-work]").count()) > 0);
  await press("0");

  // the path avoids the failed query, after which the next one began, and the time adds up
  await press("l");
  await note.getByText("Critical path: ChatShop 2.30 s, warehouse 1.20 s, shoe agent 400 ms").waitFor();
  expect(await tree.locator("[data-critical]").count()).toBeGreaterThan(6);
  await press("l");

  // across the page, with tokens and cost, also after a reload
  const narrow = (await tree.boundingBox())!.width;
  await press("w");
  await until(async () => (await tree.boundingBox())!.width > narrow * 1.5);
  await page.reload();
  await row("ChatShop").getByText("$0.0025").waitFor();
  expect((await tree.boundingBox())!.width).toBeGreaterThan(narrow * 1.5);
  expect(await checkOpenPage(page, "trace-wide", "text=find_shoes")).toEqual([]);
  expect(errors).toEqual([]);
  await context.close();
});

test("new runs appear at the top without moving the view, and a run's end is shown", async () => {
  const { page, context } = await openPage(browser);
  await page.goto(projectPage());
  await runRows(page).first().waitFor();
  const table = page.getByRole("table", { name: "Runs" });
  const frame = table.locator("..");
  await frame.evaluate((element) => element.scrollTo({ top: 380 }));
  await page.waitForTimeout(300);
  const read = runRows(page).filter({ hasText: "Answer 12 to" }).first();
  const before = await read.boundingBox();
  const id = crypto.randomUUID();
  const start = Date.now();
  const running = place({ id, name: "just begun", run_type: "chain", start, end: null, more: { inputs: { q: 1 } } });
  await send(seeded.client, seeded.projectName, [running]);
  await until(async () => Number(await table.getAttribute("aria-rowcount")) >= 52, 15_000);
  // the scroll position is corrected in the frame that shows the new row; a measurement may fall in between
  const moved = async () => Math.abs((await read.boundingBox())!.y - before!.y);
  await expect.poll(moved, { timeout: 1_000 }).toBeLessThan(3);
  await frame.evaluate((element) => element.scrollTo({ top: 0 }));
  const row = runRows(page).filter({ hasText: "just begun" });
  await row.getByRole("img", { name: "pending" }).waitFor();
  await row.getByRole("link").click();
  await page.getByText("The run is in progress.").waitFor();
  await seeded.client.updateRun(id, {
    end_time: start + 1500,
    outputs: { done: "at last" },
    trace_id: id,
    dotted_order: running.dotted_order,
  });
  await page.getByText("at last").first().waitFor();
  await context.close();
});

test("a trace shows each run's messages, error with stack, pictures, metadata and events", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(at(`/projects/${seeded.projectId}/r/${seeded.agentRunId}`));
  const tree = page.getByRole("tree", { name: "Runs of the trace" });
  await tree.getByRole("treeitem", { name: /find_shoes/ }).waitFor();
  expect(await tree.getByRole("treeitem").count()).toBe(6);
  await page.getByRole("article", { name: "Assistant" }).getByText("two pairs").waitFor();
  await page.getByLabel("Tool call find_shoes").getByText("in_stock").waitFor();
  const picture = page.getByRole("img", { name: "receipt" });
  await picture.waitFor();
  await until(() => picture.evaluate((image) => (image as HTMLImageElement).naturalWidth === 8));
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: /notes/ }).click(),
  ]);
  expect(await readFile(await download.path(), "utf8")).toBe("paid");

  await page.getByRole("tab", { name: "Metadata" }).click();
  await page.getByRole("tree", { name: "metadata" }).getByText("gold").waitFor();
  await page.getByLabel("Events").first().getByText("+4.20 s").waitFor();
  expect(page.url()).toContain("view=metadata");
  await page.getByRole("tab", { name: "Run", exact: true }).click();

  // an LLM call names its model and its tokens by direction
  await tree
    .getByRole("treeitem", { name: /ChatShop/ })
    .first()
    .click();
  const metrics = page.getByLabel("Metrics");
  await metrics.getByText("shop-1", { exact: true }).waitFor();
  for (const statistic of ["30 tokens in", "8 cached", "12 tokens out"]) await metrics.getByText(statistic).waitFor();
  await metrics.getByText("$0.0025").waitFor();
  const parameters = page.getByRole("list", { name: "Parameters" }).getByRole("listitem");
  expect(await parameters.allInnerTexts()).toEqual(["temperature 0.3", "max_tokens 500"]);
  await page.getByText("1 tool: find_shoes").click();
  const tool = page.getByRole("region", { name: "Tool find_shoes" });
  expect(await tool.locator("strong").innerText()).toBe("in stock");
  await tool.getByText("Parameters").click();
  await tool.getByRole("tree").getByText("colour").waitFor();

  // an object is rendered field by field: its texts as Markdown, a retriever's documents one below the other
  await tree.getByRole("treeitem", { name: /find_shoes/ }).click();
  const output = page.getByRole("region", { name: "Output", exact: true });
  expect(await output.getByRole("region", { name: "note" }).locator("strong").innerText()).toBe("Mitte");
  await output.getByRole("tree", { name: "found" }).getByText("in_stock").waitFor();
  await tree
    .getByRole("treeitem", { name: /warehouse/ })
    .last()
    .click();
  await output.getByRole("region", { name: "page_content" }).getByText("Red runner, size 43, Mitte").waitFor();

  // everything can be copied: a message, a tool call's arguments, an input
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await tree.getByRole("treeitem").first().click();
  await page.getByRole("button", { name: "Copy message" }).last().click();
  await until(async () => (await copied()).startsWith("Yes, **two pairs** are left:"));
  await page.getByRole("button", { name: "Copy arguments of find_shoes" }).click();
  await until(async () => (await copied()).includes('"colour": "red"'));
  await page.getByRole("button", { name: "Copy output" }).click();
  await until(async () => "messages" in (JSON.parse(await copied()) as object));

  // recorded speech is played
  const audio = page.getByLabel("answer.wav");
  await until(() => audio.evaluate((element) => (element as HTMLAudioElement).duration > 0));

  // moves between runs by keyboard, down to the failed one
  await tree.focus();
  for (let n = 0; n < 3; n++) await page.keyboard.press("ArrowDown");
  await page.getByRole("region", { name: "Error", exact: true }).getByText("ECONNREFUSED").waitFor();
  expect(await page.getByLabel("Stack").innerText()).toContain("warehouse.ts:41:11");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await until(async () => (await tree.getByRole("treeitem").count()) === 4);
  await page.getByRole("textbox", { name: "Search in this trace" }).fill("econnrefused");
  await page.getByText("1 found").waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("feedback is created, shown and deleted", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(at(`/projects/${seeded.projectId}/r/${seeded.agentRunId}?view=feedback`));
  await page.getByText("Found the right pair at once.").waitFor();
  const form = page.getByRole("form", { name: "Add feedback" });
  await form.getByRole("textbox", { name: "Key" }).fill("polite");
  await form.getByRole("textbox", { name: "Comment" }).fill("Said please.");
  // a thumb fills in the score and sends nothing, so that the comment goes with it
  const thumb = form.getByRole("button", { name: /Thumbs up/ });
  await thumb.click();
  expect(await form.getByRole("textbox", { name: "Score" }).inputValue()).toBe("1");
  expect(await thumb.getAttribute("aria-pressed")).toBe("true");
  await form.getByRole("textbox", { name: "Score" }).fill("0.5");
  expect(await thumb.getAttribute("aria-pressed")).toBe("false");
  await form.getByRole("button", { name: "Add feedback" }).click();
  await page.getByText("Said please.").nth(0).waitFor();
  await page.getByRole("tab", { name: "Feedback (3)" }).waitFor();
  const kept = [];
  for await (const feedback of seeded.client.listFeedback({ runIds: [seeded.agentRunId] })) kept.push(feedback);
  expect(kept).toContainEqual(expect.objectContaining({ key: "polite", score: 0.5, comment: "Said please." }));
  await page.getByRole("button", { name: "Delete feedback polite" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("tab", { name: "Feedback (2)" }).waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("a run is added as an example to a new dataset", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(at(`/projects/${seeded.projectId}/r/${seeded.agentRunId}`));
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Add to dataset" }).click();
  await page.getByRole("dialog").getByText("New", { exact: true }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("From traces");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("heading", { name: "From traces" }).waitFor();
  await page.getByRole("row", { name: /red shoes/ }).waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("runs selected by key or click get feedback, are exported, added to a dataset and deleted together", async () => {
  const { page, context, errors } = await openPage(browser);
  const start = Date.now() - 60_000;
  const named = (name: string, at: number) => {
    const more = { inputs: { q: `${name} of a bulk` }, outputs: { a: name } };
    return place({ id: crypto.randomUUID(), name, run_type: "chain", start: at, end: at + 10, more });
  };
  const project = `Bulk ${crypto.randomUUID()}`;
  await send(seeded.client, project, [named("first", start), named("second", start + 1), named("third", start + 2)]);
  const { id } = await seeded.client.readProject({ projectName: project });
  await page.goto(at(`/projects/${id}`));
  await until(async () => (await runRows(page).count()) === 3);
  await runRows(page).first().focus();
  await page.keyboard.press("x");
  await runRows(page).filter({ hasText: "second" }).getByRole("checkbox").click();
  const bar = page.getByRole("toolbar", { name: "Selected runs" });
  await bar.getByText("2 selected").waitFor();
  await bar.getByRole("button", { name: "Add feedback" }).click();
  await page.getByRole("dialog").getByRole("textbox", { name: "Score" }).fill("0.5");
  await page.getByRole("dialog").getByRole("button", { name: "Add", exact: true }).click();
  await until(async () => (await runRows(page).filter({ hasText: "user_score 0.5" }).count()) === 2);
  const saved = page.waitForEvent("download");
  await bar.getByRole("button", { name: "Export JSONL" }).click();
  const lines = (await readFile(await (await saved).path(), "utf8")).trim().split("\n");
  expect(lines.map((line) => (JSON.parse(line) as { name: string }).name).toSorted()).toEqual(["second", "third"]);
  await bar.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await until(async () => (await runRows(page).count()) === 1);
  await bar.waitFor({ state: "hidden" });
  await page.getByRole("checkbox", { name: "Select all loaded runs" }).click();
  await bar.getByRole("button", { name: "Add to dataset" }).click();
  await page.getByRole("dialog").getByText("New", { exact: true }).click();
  await page.getByRole("textbox", { name: "Name" }).fill(project);
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("row", { name: /first of a bulk/ }).waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("two runs are compared by statistics and differences", async () => {
  const { page, context, errors } = await openPage(browser);
  const select: ("name" | "error")[] = ["name", "error"];
  const runs: { id: string; name: string; error?: string }[] = [];
  for await (const run of seeded.client.listRuns({ projectId: seeded.projectId, isRoot: true, limit: 20, select }))
    runs.push(run);
  const failed = runs.find(({ error }) => error)!;
  await page.goto(at(`/projects/${seeded.projectId}/r/${failed.id}`));
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Compare with another run" }).click();
  await page.getByText("Or a recent run with the same name:").waitFor();
  const other = runs.find(({ name, error }) => name === "assistant" && !error)!;
  await page.getByRole("textbox", { name: /B: run ID or URL/ }).fill(at(`/projects/x/r/${other.id}?view=raw`));
  await page.getByRole("button", { name: "Select" }).click();
  await page.getByRole("table", { name: "Metrics of both runs" }).getByText("×").first().waitFor();
  await page.getByLabel("Differences in error").getByText("TimeoutError").waitFor();
  await page.getByRole("tab", { name: "Side by side" }).click();
  await page.getByRole("region", { name: "Output (B)" }).getByText("Answer").waitFor();
  // one changed word is marked by itself
  const words = page.getByRole("tab", { name: "Differences" });
  await words.click();
  const inputs = page.getByLabel("Differences in inputs");
  expect(await inputs.locator("ins").count()).toBeLessThan(12);

  // two runs marked in the list, or one after the other by key
  await page.goto(projectPage());
  await runRows(page).nth(1).focus();
  await page.keyboard.press("x");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("x");
  const bar = page.getByRole("toolbar", { name: "Selected runs" });
  await bar.getByRole("link", { name: "Compare" }).click();
  await page.getByRole("table", { name: "Metrics of both runs" }).waitFor();
  await page.goto(projectPage(`/r/${seeded.agentRunId}`));
  const calls = page.getByRole("treeitem", { name: /ChatShop/ });
  await calls.first().click();
  await page.locator("body").press("m");
  const mark = page.getByRole("region", { name: "Marked run" });
  await mark.getByText("ChatShop is marked").waitFor();
  await calls.last().click();
  await mark.getByRole("button", { name: "Compare with ChatShop" }).waitFor();
  await page.locator("body").press("m");
  await page.getByRole("table", { name: "Metrics of both runs" }).getByText("1.00 s").waitFor();
  expect(await mark.count()).toBe(0);

  // a suggested run is chosen anywhere on its line
  await page.goto(at(`/compare?a=${failed.id}`));
  await page
    .getByRole("button")
    .filter({ has: page.locator("time") })
    .first()
    .locator("p")
    .last()
    .click();
  await page.getByRole("table", { name: "Metrics of both runs" }).waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("an agent's run links to its trace, and the trace to the checkpoint", async () => {
  const agents = new AgentClient({ apiUrl: platform.agentUrl, apiKey: null });
  const thread = await agents.threads.create();
  const input = { messages: [{ role: "user", content: "What is the weather in Berlin?" }] };
  await agents.runs.wait(thread.thread_id, "agent", { input });
  const [run] = await agents.runs.list(thread.thread_id);
  await until(async () => (await fetch(`${platform.traceUrl}/runs/${run!.run_id}`)).ok, 20_000);
  const { session_id: project } = (await (await fetch(`${platform.traceUrl}/runs/${run!.run_id}`)).json()) as {
    session_id: string;
  };
  const { page, context, errors } = await openPage(browser);
  await page.goto(at(`/projects/${project}/r/${run!.run_id}`));
  await page.getByRole("treeitem", { name: /get_weather/ }).click();
  await page.getByRole("article", { name: "Run get_weather" }).waitFor();
  await page.getByRole("link", { name: "Last checkpoint" }).click();
  await page.waitForURL(/\/a\/local\/threads\/.*checkpoint=/);
  const [, tools] = await agents.threads.getHistory(thread.thread_id, { limit: 2 });
  expect(new URL(page.url()).searchParams.get("checkpoint")).toBe(tools!.checkpoint.checkpoint_id);
  await page.getByText("sunny in Berlin").first().waitFor();
  // and back
  await page.getByRole("button", { name: "View trace" }).click();
  await page.waitForURL((url) => url.pathname === `/projects/${project}/r/${run!.run_id}`);
  await page.getByRole("treeitem", { name: /get_weather/ }).waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("the address printed by evaluate() compares a dataset's experiments", async () => {
  const { page, context, errors } = await openPage(browser);
  const [a, b] = seeded.experimentIds;
  await page.goto(at(`/o/${crypto.randomUUID()}/datasets/${seeded.datasetId}/compare?selectedSessions=${a}%2C${b}`));
  const table = page.getByRole("table", { name: "Experiment comparison" });
  const row = table.getByRole("row").filter({ hasText: "What is twice 7?" });
  await row.getByText('{"double":14}').nth(1).waitFor();
  expect(await row.innerText()).toMatch(/correct 1[\s\S]*"double":7[\s\S]*correct 0/);
  // the baseline is named, averages and regressions have their deltas, and no score is cut
  const card = page.getByRole("region", { name: /^Experiment hasty/ });
  await card.getByText(/−0\.25 \(95% interval .*\): /).waitFor();
  await page
    .getByRole("region", { name: /^Experiment careful/ })
    .getByText("Baseline", { exact: true })
    .waitFor();
  const regressed = table.locator("[data-row]").first().getByRole("list", { name: "Scores" }).last();
  expect(await regressed.innerText()).toContain("correct 0 ▼ −1");
  for (const score of await table.getByRole("list", { name: "Scores" }).all()) {
    expect(await score.evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true);
  }
  await page.getByRole("tab", { name: "Examples" }).click();
  await page.getByRole("textbox", { name: "Search examples" }).fill("twice 6");
  await until(async () => (await page.locator("[data-row]").count()) === 1, 10_000);
  await page.getByRole("button", { name: "Add example" }).click();
  await page.getByRole("textbox", { name: "Inputs", exact: true }).fill('{"n": 99}');
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("textbox", { name: "Search examples" }).fill("99");
  await page.getByRole("row", { name: /"n":99/ }).waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("dataset versions are viewed, compared and tagged; examples are edited and filtered by split", async () => {
  // a separate dataset, so that changes by other tests create no versions of it
  const { client } = seeded;
  const { id } = await client.createDataset(`Versions ${crypto.randomUUID()}`);
  await client.createExamples([
    { dataset_id: id, inputs: { q: "first" }, outputs: { a: 1 }, split: "train" },
    { dataset_id: id, inputs: { q: "second" }, outputs: { a: 2 }, split: "test" },
  ]);
  const { page, context, errors } = await openPage(browser);
  await page.goto(at(`/datasets/${id}`));
  const examples = page.getByRole("table", { name: "Examples" });
  await examples.getByRole("row", { name: /second/ }).waitFor();
  await page.getByRole("combobox", { name: "Split" }).click();
  await page.getByRole("option", { name: "train" }).click();
  await page.waitForURL(/split=train/);
  await examples.getByRole("row", { name: /second/ }).waitFor({ state: "detached" });
  await examples.getByRole("row", { name: /first/ }).getByRole("button").first().click();
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByRole("textbox", { name: "Reference outputs", exact: true }).fill('{"a": 11}');
  await page.getByRole("combobox", { name: "Splits" }).fill("checked");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await examples
    .getByRole("row", { name: /"a":11/ })
    .getByText("checked")
    .waitFor();
  const kept = [];
  for await (const example of client.listExamples({ datasetId: id, splits: ["checked"] })) kept.push(example);
  expect(kept).toEqual([expect.objectContaining({ inputs: { q: "first" }, outputs: { a: 11 } })]);
  const csv = page.waitForEvent("download");
  await page.getByRole("button", { name: "Dataset actions" }).click();
  await page.getByRole("menuitem", { name: "Download as CSV" }).click();
  expect(await readFile(await (await csv).path(), "utf8")).toContain("second");

  await page.getByRole("tab", { name: "Versions" }).click();
  const versions = page.getByRole("table", { name: "Versions" });
  const [newest, before] = [versions.locator("tbody tr").first(), versions.locator("tbody tr").nth(1)];
  await newest.getByText("latest").waitFor();
  await newest.getByRole("button", { name: "View changes" }).click();
  const changes = page.getByRole("dialog");
  await changes.getByText("1 modified").waitFor();
  await changes.getByRole("button", { name: kept[0]!.id.slice(-8) }).click();
  await changes.getByText("outputs.a", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await changes.waitFor({ state: "detached" });
  await before.getByRole("button", { name: "Add tag" }).click();
  await page.getByRole("textbox", { name: "Tag" }).fill("as sent");
  await page.getByRole("dialog").getByRole("button", { name: "Add tag" }).click();
  await before.getByText("as sent").waitFor();
  expect(await client.readDatasetVersion({ datasetId: id, tag: "as sent" })).toMatchObject({ tags: ["as sent"] });
  expect(await checkOpenPage(page, "dataset-versions", "text=as sent")).toEqual([]);
  await before.getByRole("button", { name: "Examples" }).click();
  await page.waitForURL(/version=/);
  await examples.getByRole("row", { name: /"a":1\}/ }).waitFor();
  expect(await page.getByRole("button", { name: "Add example" }).count()).toBe(0);
  await page.getByRole("button", { name: "Back to latest" }).click();
  await examples.getByRole("row", { name: /"a":11/ }).waitFor();
  await page.goto(at(`/datasets/${id}?version=as%20sent`));
  await examples.getByRole("row", { name: /"a":1\}/ }).waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("a trace of 10,000 runs opens and scrolls without long tasks", async () => {
  const rootId = await seedLargeTrace(seeded.client, "Batch", 10_000);
  const { id: projectId } = await seeded.client.readProject({ projectName: "Batch" });
  const { page, context, errors } = await openPage(browser);
  page.setDefaultTimeout(60_000);
  await page.goto(at("/projects"));
  await page.getByRole("row", { name: /Batch/ }).waitFor();
  const tree = page.getByRole("tree", { name: "Runs of the trace" });
  const opened = await measureTasks(page, async () => {
    await page.goto(at(`/projects/${projectId}/r/${rootId}`));
    await page.getByText("10,000 runs").waitFor();
    await page.getByRole("button", { name: "Expand all runs" }).click();
    await until(() => tree.evaluate((element) => element.scrollHeight > 270_000), 10_000);
  });
  /** Scrolls from the top by so many pixels a frame. Returns the frames, those with rows, and the rows of the last. */
  const scroll = (pixels: number | "all") =>
    tree.evaluate(async (element, step) => {
      const frames = 240;
      const height = element.scrollHeight - element.clientHeight;
      const rows = () => element.querySelectorAll('[role="treeitem"]').length;
      let filled = 0;
      for (let frame = 1; frame <= frames; frame++) {
        element.scrollTop = frame * (step === "all" ? height / frames : step);
        await new Promise(requestAnimationFrame);
        if (rows() > 10) filled += 1;
      }
      return { frames, filled, rows: rows() };
    }, pixels);
  let drawn = { frames: 0, filled: 0, rows: 0 };
  const scrolled = await measureTasks(page, async () => {
    drawn = await scroll("all");
  });
  expect(drawn.filled).toBe(drawn.frames);
  expect(drawn.rows).toBeLessThan(120);
  expect(scrolled.longest).toBeLessThan(100);
  // 17,000 pixels a second, as a finger flings a list: 60 frames of a second leave 16.7 ms for each
  const flung = await measureTasks(page, async () => {
    drawn = await scroll(280);
  });
  console.log(
    `10,000 runs: longest task ${opened.longest.toFixed(0)} ms when opened, ${scrolled.longest.toFixed(0)} ms when ` +
      `scrolled; a frame takes ${(scrolled.total / drawn.frames).toFixed(1)} ms when all rows change, ` +
      `${(flung.total / drawn.frames).toFixed(1)} ms when flung`,
  );
  expect(drawn.filled).toBe(drawn.frames);
  expect(flung.total / drawn.frames).toBeLessThan(16.7 * (await machineFactor()));
  await tree.focus();
  await page.keyboard.press("End");
  await page.waitForURL((url) => !url.pathname.endsWith(rootId));
  expect(errors).toEqual([]);
  await context.close();
});

/**
 * Returns the main thread's processor time, in milliseconds, during the longest task and during all of them. Wall time would not do: on a
 * shared machine other processes may interrupt any task for arbitrarily long.
 */
async function measureTasks(page: Page, work: () => Promise<void>): Promise<{ longest: number; total: number }> {
  await browser.startTracing(page, { categories: ["toplevel", "__metadata"] });
  await work();
  const trace = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: {
      name: string;
      ph: string;
      pid: number;
      tid: number;
      ts: number;
      dur?: number;
      tdur?: number;
      args?: { name?: string };
    }[];
  };
  const mains = new Set(
    trace.traceEvents
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = trace.traceEvents.filter(({ ph, pid, tid, tdur }) => ph === "X" && tdur && mains.has(`${pid} ${tid}`));
  if (tasks.length === 0) throw new Error("The browser has told of no task.");
  let [longest, total, end] = [0, 0, 0];
  for (const { ts, dur = 0, tdur = 0 } of tasks.toSorted((a, b) => a.ts - b.ts)) {
    // a part of a task is reported after the task
    if (ts < end) continue;
    end = ts + dur;
    longest = Math.max(longest, tdur / 1000);
    total += tdur / 1000;
  }
  return { longest, total };
}
