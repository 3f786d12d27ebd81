/** The form of alerts: what each field says is what the rule has, and what the edited form shows again. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { receiver } from "../../server/test/receiver.ts";
import { openBrowser, openPage, seriousFindings } from "./browser.ts";
import { type SharedPlatform, sharedPlatform } from "./shared-platform.ts";

let platform: SharedPlatform;
let browser: Browser;
beforeAll(async () => {
  platform = await sharedPlatform("open");
  browser = await openBrowser();
}, 180_000);
afterAll(() => browser?.close());

const form = (page: Page) => page.getByRole("dialog");
const field = (page: Page, label: string) => form(page).getByLabel(label, { exact: true });
const fill = (page: Page, label: string, text: string) => field(page, label).fill(text);
async function choose(page: Page, label: string, option: string, place = 0): Promise<void> {
  await form(page).getByRole("combobox", { name: label, exact: true }).nth(place).click();
  await page.getByRole("option", { name: option, exact: true }).click();
}

interface Stored {
  rule: Record<string, unknown>;
  actions: { target: string; config: Record<string, unknown> }[];
}

/** Fills a new form, saves it and returns the stored alert and the page that shows it. */
async function create(name: string, work: (page: Page) => Promise<void>) {
  const opened = await openPage(browser);
  const { page } = opened;
  await page.goto(`${platform.url}/alerts`);
  await page.getByRole("button", { name: "New alert" }).click();
  await form(page).getByRole("textbox", { name: "Name" }).fill(name);
  await work(page);
  expect(await seriousFindings(page)).toEqual([]);
  await form(page).getByRole("button", { name: "Create" }).click();
  await page.waitForURL(/\/alerts\/[0-9a-f-]{36}/);
  const id = new URL(page.url()).pathname.split("/").at(-1)!;
  const read = async () => (await (await fetch(`${platform.traceUrl}/v1/platform/alerts/all/${id}`)).json()) as Stored;
  return { ...opened, stored: await read(), read };
}

async function edit(page: Page): Promise<void> {
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await form(page).waitFor();
}

test("a change against a baseline, by group, with maintenance and timing", async () => {
  const { page, context, errors, stored, read } = await create("Slower", async (page) => {
    await choose(page, "Fires on", "A change");
    await choose(page, "Metric", "Latency, p95");
    await choose(page, "Group by", "Metadata");
    await fill(page, "Metadata key", "customer");
    await choose(page, "Is", "≥");
    await fill(page, "Window", "30");
    await fill(page, "Change to the previous period", "25");
    await fill(page, "Length of the previous period", "1440");
    await fill(page, "Evaluations in a row", "2");
    await fill(page, "Minimum of runs", "20");
    await choose(page, "Severity", "critical");
    await fill(page, "Evaluate every", "5");
    await fill(page, "Delay", "3");
    await choose(page, "Without data, an incident", "Keeps its state");
    await form(page).getByRole("button", { name: "Add maintenance" }).click();
    await fill(page, "No messages from", "2031-01-02T03:04");
    expect(await form(page).getByRole("button", { name: "Create" }).isDisabled()).toBe(true);
    await fill(page, "until", "2031-01-02T05:00");
  });
  const iso = (local: string) => new Date(local).toISOString().slice(0, 16);
  expect(stored.rule).toMatchObject({
    type: "change",
    attribute: "latency",
    aggregation: "p95",
    operator: "gte",
    threshold_multiplier: 1.25,
    threshold_window_minutes: 1440,
    window_minutes: 30,
    for_evaluations: 2,
    min_runs: 20,
    severity: "critical",
    interval_minutes: 5,
    delay_minutes: 3,
    no_data: "keep",
    group_by: { attribute: "metadata", path: "customer" },
    maintenance_windows: [
      {
        starts_at: expect.stringContaining(iso("2031-01-02T03:04")),
        ends_at: expect.stringContaining(iso("2031-01-02T05:00")),
      },
    ],
  });
  await edit(page);
  expect(await field(page, "Change to the previous period").inputValue()).toBe("25%");
  expect(await field(page, "Length of the previous period").inputValue()).toBe("1440 min");
  expect(await field(page, "until").inputValue()).toBe("2031-01-02T05:00");
  await form(page).getByRole("button", { name: "Remove maintenance 1" }).click();
  await form(page).getByRole("button", { name: "Save" }).click();
  await form(page).waitFor({ state: "detached" });
  expect((await read()).rule).toEqual({
    ...stored.rule,
    maintenance_windows: [],
    updated_at: expect.anything(),
  });

  await page.getByRole("button", { name: /^Silence/ }).click();
  await page.getByRole("menuitem").first().click();
  await page.getByText(/silenced until/).waitFor();
  expect(Date.parse((await read()).rule["silenced_until"] as string)).toBeGreaterThan(Date.now());
  expect(errors).toEqual([]);
  await context.close();
});

test("absence has a window and no threshold; a platform metric has no runs", async () => {
  const { page, context, errors, stored } = await create("Nothing arrives", async (page) => {
    await choose(page, "Fires on", "No runs");
    for (const label of ["Metric", "Is", "Minimum of runs", "Resolves at"])
      expect(await field(page, label).count()).toBe(0);
    await fill(page, "Window", "60");
  });
  expect(stored.rule).toMatchObject({ type: "absence", window_minutes: 60, group_by: null });
  await page.getByText("No runs in 60 min").first().waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("a threshold with hysteresis and a feedback key tells each channel, and the test shows the answers", async () => {
  const hooks = await receiver((response) => response.writeHead(418).end("short and stout"));
  const { page, context, errors, stored, read } = await create("Bad answers", async (page) => {
    await choose(page, "Metric", "Feedback score, average");
    await choose(page, "Is", "<");
    await fill(page, "Threshold", "0.5");
    await fill(page, "Resolves at", "0.7");
    await fill(page, "Feedback key", "correct");
    const add = async (place: number, channel: string, label: string, text: string) => {
      await form(page).getByRole("button", { name: "Add channel" }).click();
      if (channel !== "Slack") await choose(page, "Channel", channel, place);
      await form(page).getByLabel(label, { exact: true }).last().fill(text);
    };
    await add(0, "Slack", "URL", `${hooks.url}/slack`);
    await add(1, "Teams", "URL", `${hooks.url}/teams`);
    await add(2, "Webhook", "URL", `${hooks.url}/hook`);
    await form(page).getByRole("button", { name: "Send test message" }).click();
    await form(page).getByRole("status").getByText("short and stout").nth(2).waitFor();
    expect(await form(page).getByRole("status").getByText("418").count()).toBe(3);
    await add(3, "PagerDuty", "Routing key", "R0123456789ABCDEF0123456789ABCDE");
    await add(4, "E-mail", "Addresses", "ann@example.com, bob@example.com");
    // typed and not applied with Enter
    await form(page).getByLabel("Filter expression").fill('eq(name, "agent")');
  });
  expect(hooks.received.map(({ path }) => path).toSorted()).toEqual(["/hook", "/slack", "/teams"]);
  expect(stored.rule).toMatchObject({
    type: "threshold",
    attribute: "feedback_score",
    aggregation: "avg",
    operator: "lt",
    threshold: 0.5,
    resolve_threshold: 0.7,
    feedback_key: "correct",
    filter: 'eq(name, "agent")',
  });
  const targets = (alert: Stored) => alert.actions.map(({ target }) => target);
  expect(targets(stored)).toEqual(["slack", "teams", "webhook", "pagerduty", "email"]);
  expect(stored.actions.at(-1)!.config).toMatchObject({ to: ["ann@example.com", "bob@example.com"] });
  await edit(page);
  await form(page).getByRole("button", { name: "Remove channel 2" }).click();
  await form(page).getByRole("button", { name: "Save" }).click();
  await form(page).waitFor({ state: "detached" });
  expect(targets(await read())).toEqual(["slack", "webhook", "pagerduty", "email"]);
  expect(errors).toEqual([]);
  await context.close();
});
