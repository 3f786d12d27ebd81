/**
 * What people come to the console for, done as they do it: from the overview, by clicks and keys alone. The number of
 * each job's clicks and keys may only fall (count-inputs.ts).
 */
import { readFile } from "node:fs/promises";

import { Client } from "@langchain/langgraph-sdk";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { openBrowser, openPage, until } from "./browser.ts";
import { countInputs, enter, tooManyInputs } from "./count-inputs.ts";
import { type Seeded } from "./seed-traces.ts";
import { type SharedPlatform, sharedPlatform, sharedTraces } from "./shared-platform.ts";

let platform: SharedPlatform;
let browser: Browser;
let client: Client;
let seeded: Seeded;
beforeAll(async () => {
  platform = await sharedPlatform("open");
  browser = await openBrowser();
  client = new Client({ apiUrl: platform.agentUrl, apiKey: null });
  seeded = await sharedTraces(platform);
  await until(async () => (await client.assistants.search()).length > 8);
}, 180_000);
afterAll(async () => {
  await browser?.close();
});

/** Does a job from the overview. Returns the page's errors, and whether it took more clicks and keys than before. */
async function doJob(name: string, work: (page: Page) => Promise<void>): Promise<string[]> {
  const { page, context, errors } = await openPage(browser);
  const inputs = await countInputs(context);
  await page.goto(platform.url);
  await page.getByRole("region", { name: "Recent threads" }).waitFor();
  await work(page);
  await context.close();
  return [...errors, ...tooManyInputs(name, inputs)];
}

const goTo = (page: Page, name: string) =>
  page
    .getByRole("navigation", { name: "Pages" })
    .getByRole("link", { name: new RegExp(`^${name}`) })
    .first()
    .click();
const runRows = (page: Page) => page.getByRole("table", { name: "Runs" }).locator("[data-row]");
const openProject = async (page: Page, name: string) => {
  await goTo(page, "Traces");
  await page.getByRole("link", { name, exact: true }).click();
  await runRows(page).first().waitFor();
};
const sendMessage = (content: string) => ({ input: { messages: [{ role: "user", content }] } });

test("clicks and keys are counted, typed text is not", async () => {
  const { page, context } = await openPage(browser);
  const inputs = await countInputs(context);
  await page.goto(`${platform.url}/sign-in`);
  const field = page.getByLabel("API key");
  await enter(field, "some text");
  await enter(field, " more");
  expect(await field.inputValue()).toBe("some text more");
  await page.keyboard.press("Shift+Tab");
  expect(inputs).toEqual({ clicks: 1, keys: 1 });
  await context.close();
});

test("talk to the agent and open its trace", async () => {
  expect(
    await doJob("talk to the agent and open its trace", async (page) => {
      await page.getByRole("article", { name: "This server" }).getByRole("link", { name: "Playground" }).click();
      await enter(page.getByRole("textbox", { name: "Message" }), "What is the weather in Bonn?");
      await page.keyboard.press("Enter");
      await page.getByText("The tool says: sunny in Bonn").first().waitFor();
      await page.getByRole("group", { name: "Run", exact: true }).getByText("Success", { exact: true }).waitFor();
      await page
        .getByRole("link", { name: "Trace", exact: true })
        .or(page.getByRole("button", { name: "Trace", exact: true }))
        .click();
      await page.getByRole("treeitem", { name: /get_weather/ }).waitFor();
    }),
  ).toEqual([]);
});

test("find the reason of a failed run", async () => {
  const { thread_id: id } = await client.threads.create();
  await client.runs.wait(id, "failing", { input: {}, raiseError: false });
  const [run] = await client.runs.list(id);
  await until(async () => (await fetch(`${platform.traceUrl}/runs/${run!.run_id}`)).ok);
  expect(
    await doJob("find the reason of a failed run", async (page) => {
      const failures = page.getByRole("region", { name: "Failures in the last 24 hours" });
      await failures.getByRole("link", { name: "failing" }).first().click();
      await page.getByRole("region", { name: "Error", exact: true }).getByText("boom").first().waitFor();
      await page
        .getByText(/failing\.ts/)
        .first()
        .waitFor();
    }),
  ).toEqual([]);
});

test("edit a message and resend it", async () => {
  expect(
    await doJob("edit a message and resend it", async (page) => {
      await goTo(page, "Playground");
      await enter(page.getByRole("textbox", { name: "Message" }), "one");
      await page.keyboard.press("Enter");
      await page.getByText("You said: one").first().waitFor();
      await page.getByRole("button", { name: "Edit and resend" }).click();
      const field = page.getByLabel("Edited message");
      await field.waitFor();
      await page.keyboard.press("Control+a");
      await enter(field, "two");
      await page.getByRole("button", { name: "Resend" }).click();
      await page.getByText("You said: two").first().waitFor();
    }),
  ).toEqual([]);
});

test("rate a reply in the playground", async () => {
  expect(
    await doJob("rate a reply in the playground", async (page) => {
      await goTo(page, "Playground");
      await enter(page.getByRole("textbox", { name: "Message" }), "hello");
      await page.keyboard.press("Enter");
      await page.getByText("You said: hello").first().waitFor();
      await page.getByRole("button", { name: "Good reply", exact: true }).click();
      await page.getByRole("button", { name: "Good reply", pressed: true }).waitFor();
    }),
  ).toEqual([]);
});

test("answer an interrupt in the inbox", async () => {
  const { thread_id: id } = await client.threads.create();
  await client.runs.wait(id, "review", { input: { topic: "lunch", recipient: "ada@example.com" } });
  expect(
    await doJob("answer an interrupt in the inbox", async (page) => {
      await goTo(page, "Inbox");
      const card = page.getByRole("article", { name: `Thread ${id}` });
      await card.getByRole("button", { name: "approve", exact: true }).click();
      await card.getByText("Answered. The run continues.").waitFor();
      await until(async () => (await client.threads.getState<{ status: string }>(id)).values.status === "sent");
    }),
  ).toEqual([]);
});

test("answer an interrupt in the playground", async () => {
  expect(
    await doJob("answer an interrupt in the playground", async (page) => {
      await goTo(page, "Playground");
      await page.getByRole("combobox", { name: "Assistant" }).click();
      await page.keyboard.insertText("revi");
      await page.getByRole("option", { name: "review", exact: true }).click();
      await enter(page.getByLabel("topic"), "lunch");
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await page.getByText("Shall this be sent?").waitFor();
      await page.getByRole("button", { name: "approve", exact: true }).waitFor();
      // the question has the focus
      await page.keyboard.press("1");
      await page.getByRole("group", { name: "Run", exact: true }).getByText("Success", { exact: true }).waitFor();
    }),
  ).toEqual([]);
});

test("compare the replies of two assistants", async () => {
  expect(
    await doJob("compare the replies of two assistants", async (page) => {
      await goTo(page, "Playground");
      await page.getByRole("button", { name: "Compare", exact: true }).click();
      await enter(page.getByRole("textbox", { name: "Message" }), "hello");
      await page.keyboard.press("Enter");
      await page.getByText("You said: hello").first().waitFor();
    }),
  ).toEqual([]);
});

test("fork a thread from an earlier step", async () => {
  const { thread_id: id } = await client.threads.create();
  await client.runs.wait(id, "agent", sendMessage("first of a fork"));
  expect(
    await doJob("fork a thread from an earlier step", async (page) => {
      await page.getByRole("region", { name: "Recent threads" }).getByRole("link").first().waitFor();
      await page.keyboard.press("Control+k");
      await enter(page.getByRole("combobox", { name: "Page, object or ID" }), id);
      await page.getByRole("option", { name: `Thread ${id}` }).waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("tab", { name: "History" }).click();
      await page.getByRole("list", { name: "Checkpoints" }).getByRole("checkbox").nth(1).click();
      await page.getByRole("link", { name: "Fork in playground" }).click();
      await page.getByText("Viewing an earlier state").waitFor();
      await enter(page.getByRole("textbox", { name: "Message" }), "second of a fork");
      await page.keyboard.press("Enter");
      await until(async () => (await client.runs.list(id)).length === 2);
    }),
  ).toEqual([]);
});

test("cancel a run in the queue", async () => {
  const { thread_id: id } = await client.threads.create();
  const { run_id: runId } = await client.runs.create(id, "slow", { input: { steps: 20, ms: 2_000, label: "x" } });
  expect(
    await doJob("cancel a run in the queue", async (page) => {
      await goTo(page, "Queue");
      await page
        .getByRole("row")
        .filter({ hasText: runId.slice(-8) })
        .getByRole("button", { name: "Cancel" })
        .click();
      await page.getByRole("dialog").getByRole("button", { name: "Cancel run" }).click();
      await until(async () => (await client.runs.get(id, runId)).status === "interrupted");
    }),
  ).toEqual([]);
});

test("find slow traces of a model", async () => {
  expect(
    await doJob("find slow traces of a model", async (page) => {
      await openProject(page, seeded.projectName);
      await page.getByRole("button", { name: "Latency and cost" }).click();
      await enter(page.getByRole("textbox", { name: "From (seconds)" }), "4");
      await page.getByRole("button", { name: "Apply latency" }).click();
      await page.waitForURL(/filter=/);
      await page.getByRole("button", { name: "Quick filters" }).click();
      await page
        .getByRole("button", { name: /^shop-1/ })
        .first()
        .click();
      await page.waitForURL(/tree_filter=/);
    }),
  ).toEqual([]);
});

/** Rows of the runs' table with the numbers of a column. */
const numbersOf = async (page: Page, title: string): Promise<number[]> => {
  const heads = await page.getByRole("columnheader").allInnerTexts();
  const index = heads.findIndex((head) => head.trim().startsWith(title));
  const texts = await runRows(page).evaluateAll(
    (rows, at) => rows.map((row) => row.querySelectorAll('[role="cell"]')[at]!.textContent ?? ""),
    index,
  );
  return texts.map((text) => Number(text.replace(/[^\d.]/g, "")));
};

test("see the slowest traces first, in at most two clicks", async () => {
  expect(
    await doJob("see the slowest traces first", async (page) => {
      await page.goto(`${platform.url}/projects/${seeded.projectId}`);
      await runRows(page).first().waitFor();
      await page.getByRole("columnheader", { name: "Latency" }).getByRole("button").click();
      await page.waitForURL(/sort=latency/);
      await until(async () => {
        const [first = 0, second = 0] = await numbersOf(page, "Latency");
        return first >= second && first > 4;
      });
    }),
  ).toEqual([]);
});

test("keep the traces above a cost, which is the cost that their column shows, in at most three inputs", async () => {
  expect(
    await doJob("keep the traces above a cost", async (page) => {
      await page.goto(`${platform.url}/projects/${seeded.projectId}`);
      await runRows(page).first().waitFor();
      const costs = (await numbersOf(page, "Cost")).filter((cost) => cost > 0).toSorted((a, b) => a - b);
      const least = costs[Math.floor(costs.length / 2)]!;
      await page.getByRole("button", { name: "Latency and cost" }).click();
      await enter(page.getByRole("textbox", { name: "From (dollars)" }), String(least));
      await page.keyboard.press("Enter");
      await page.waitForURL(/filter=/);
      await until(async () => {
        const shown = await numbersOf(page, "Cost");
        return shown.length > 0 && shown.every((cost) => cost >= least * 0.99);
      });
    }),
  ).toEqual([]);
});

test("find an object by a part of its name, in at most four keys and clicks", async () => {
  expect(
    await doJob("find an object by a part of its name", async (page) => {
      await page.keyboard.press("Control+k");
      await enter(page.getByRole("combobox", { name: "Page, object or ID" }), seeded.projectName.slice(1, 9));
      await page.getByRole("option", { name: seeded.projectName }).first().waitFor();
      await page.keyboard.press("Enter");
      await page.waitForURL(new RegExp(`/projects/${seeded.projectId}`));
    }),
  ).toEqual([]);
});

test("put two traces in a new dataset", async () => {
  expect(
    await doJob("put two traces in a new dataset", async (page) => {
      await openProject(page, seeded.projectName);
      const boxes = runRows(page).getByRole("checkbox");
      await boxes.nth(0).click();
      await boxes.nth(1).click();
      const bar = page.getByRole("toolbar", { name: "Selected runs" });
      await bar.getByRole("button", { name: "Add to dataset" }).click();
      await page.getByRole("dialog").getByText("New", { exact: true }).click();
      await enter(page.getByRole("textbox", { name: "Name" }), `two traces ${crypto.randomUUID().slice(0, 8)}`);
      await page.keyboard.press("Enter");
      await page.getByRole("table", { name: "Examples" }).locator("[data-row]").nth(1).waitFor();
    }),
  ).toEqual([]);
});

test("give feedback with a comment on a trace", async () => {
  const { thread_id: id } = await client.threads.create();
  await client.runs.wait(id, "agent", sendMessage("to be rated"));
  const [run] = await client.runs.list(id);
  await until(async () => (await fetch(`${platform.traceUrl}/runs/${run!.run_id}`)).ok);
  expect(
    await doJob("give feedback with a comment on a trace", async (page) => {
      await page.keyboard.press("Control+k");
      await enter(page.getByRole("combobox", { name: "Page, object or ID" }), run!.run_id);
      await page
        .getByRole("option", { name: new RegExp(run!.run_id) })
        .first()
        .waitFor();
      await page.getByRole("option", { name: new RegExp(`trace.*${run!.run_id}`, "i") }).click();
      await page.getByRole("tab", { name: /Feedback/ }).click();
      await page.getByRole("button", { name: "Thumbs up" }).click();
      await enter(page.getByLabel("Comment"), "well said");
      await page.getByRole("button", { name: "Add feedback" }).click();
      await page.getByRole("row").filter({ hasText: "well said" }).or(page.getByText("well said")).first().waitFor();
    }),
  ).toEqual([]);
});

test("export the traces of a filter", async () => {
  expect(
    await doJob("export the traces of a filter", async (page) => {
      await openProject(page, seeded.projectName);
      await page.getByRole("button", { name: "Quick filters" }).click();
      await page.getByRole("button", { name: /^returns/ }).click();
      await page.waitForURL(/returns/);
      // the rows of before stay until the new ones have arrived
      await until(async () => (await runRows(page).filter({ hasNotText: "returns" }).count()) === 0);
      await page.keyboard.press("Escape");
      await page.getByRole("checkbox", { name: "Select all loaded runs" }).click();
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "Export JSONL" }).click();
      const lines = (await readFile(await (await saved).path(), "utf8")).trim().split("\n");
      expect(new Set(lines.map((line) => (JSON.parse(line) as { name: string }).name))).toEqual(new Set(["returns"]));
    }),
  ).toEqual([]);
});

test("find the regressions of an experiment", async () => {
  expect(
    await doJob("find the regressions of an experiment", async (page) => {
      await goTo(page, "Datasets");
      await page.getByRole("link", { name: "Doubling", exact: true }).click();
      await page.getByRole("tab", { name: /Experiments/ }).click();
      const rows = page.getByRole("table", { name: "Experiments" }).locator("[data-row]");
      await rows.filter({ hasText: "careful" }).getByRole("checkbox").click();
      await rows.filter({ hasText: "hasty" }).getByRole("checkbox").click();
      await page.getByRole("button", { name: /^Compare/ }).click();
      const table = page.getByRole("table", { name: "Experiment comparison" });
      await table
        .locator("[data-row]")
        .first()
        .getByText(/correct 0/)
        .first()
        .waitFor();
    }),
  ).toEqual([]);
});

test("create a cron", async () => {
  expect(
    await doJob("create a cron", async (page) => {
      await goTo(page, "Crons");
      await page.getByRole("button", { name: "New cron" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.waitFor();
      await enter(dialog.getByRole("textbox", { name: "Schedule" }), "0 7 * * 1");
      await dialog.getByRole("button", { name: /^Create/ }).click();
      await page.getByText("0 7 * * 1").first().waitFor();
    }),
  ).toEqual([]);
  for (const { cron_id: id, schedule } of await client.crons.search({}))
    if (schedule === "0 7 * * 1") await client.crons.delete(id);
});
