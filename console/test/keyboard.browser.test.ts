/** Keyboard use: the order and visibility of the focus, dialogs, and the shortcut to any page. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { openBrowser, openPage, seriousFindings, until } from "./browser.ts";
import { type SharedPlatform, sharedPlatform } from "./shared-platform.ts";

let platform: SharedPlatform;
let browser: Browser;
beforeAll(async () => {
  platform = await sharedPlatform("open");
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
});

/** Pages, each with the name of its main control. */
const PAGES = [
  ["playground?assistant=agent", "Message"],
  ["threads", "Thread ID"],
  ["assistants", "New assistant"],
  ["crons", "New cron"],
  ["store", "New item"],
  ["webhooks", "Run ID"],
] as const;
const DIALOGS = [
  ["assistants", "New assistant"],
  ["crons", "New cron"],
  ["store", "New item"],
] as const;

/** Returns the focused element's name, and whether its appearance differs from the unfocused one. */
async function focused(page: Page): Promise<{ name: string; isSeen: boolean }> {
  return await page.evaluate(async () => {
    const element = document.activeElement as HTMLElement;
    if (element === document.body) return { name: "", isSeen: true };
    const labels = "labels" in element ? [...((element.labels as NodeListOf<HTMLElement> | null) ?? [])] : [];
    const name = element.getAttribute("aria-label") ?? labels[0]?.textContent ?? element.textContent ?? "";
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const look = async () => {
      await frame();
      await frame();
      // the focus ring of a switch, a chip or an editor is drawn on an element around or beside it
      const around = [element.parentElement, element.parentElement?.parentElement, element.closest(".cm-editor")];
      return [element, element.nextElementSibling, ...around].map((part) => {
        if (!part) return "";
        const { outline, boxShadow, borderColor, left } = getComputedStyle(part);
        return [outline, boxShadow, borderColor, left].join(" ");
      });
    };
    const withFocus = await look();
    element.blur();
    const without = await look();
    element.focus();
    return { name: name.trim(), isSeen: withFocus.join() !== without.join() };
  });
}

test("the keyboard alone skips the navigation, keeps focus visible on each page, and leaves dialogs", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(platform.url);
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link").nth(8).waitFor();
  await page.keyboard.press("Tab");
  expect(await focused(page)).toMatchObject({ name: "Skip to content" });
  await page.keyboard.press("Enter");
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");

  for (const [path, goal] of PAGES) {
    await page.goto(`${platform.url}/a/local/${path}`);
    await page
      .getByLabel(goal)
      .or(page.getByRole("button", { name: goal }))
      .first()
      .waitFor();
    const seen: string[] = [];
    for (let press = 0; press < 60 && !seen.includes(goal); press++) {
      await page.keyboard.press("Tab");
      const { name, isSeen } = await focused(page);
      expect(isSeen, `the focus on ${name} of ${path} is not seen`).toBe(true);
      seen.push(name);
    }
    expect(seen, `${goal} of ${path} is not reached`).toContain(goal);
  }

  // a dialog traps the focus, closes on Escape, and restores the focus
  for (const [path, opener] of DIALOGS) {
    await page.goto(`${platform.url}/a/local/${path}`);
    await page.getByRole("button", { name: opener }).focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    for (let press = 0; press < 12; press++) {
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement?.closest("[role=dialog]") !== null)).toBe(true);
    }
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await until(async () => (await focused(page)).name === opener);
  }
  expect(errors).toEqual([]);
  await context.close();
});

test("Ctrl+K opens pages, objects by name, id and content, settings and actions, the recent ones first", async () => {
  const response = await fetch(`${platform.agentUrl}/threads`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  const { thread_id: id } = (await response.json()) as { thread_id: string };
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/nothing/here`);
  await page.getByText("Page not found").waitFor();
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Inbox" }).waitFor();
  await page.keyboard.press("Control+k");
  const field = page.getByRole("combobox", { name: "Page, object or ID" });
  await field.fill("e");
  await page.keyboard.press("ArrowDown");
  await field.fill("cron");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/a\/local\/crons$/);
  await page.keyboard.press("Control+k");
  await field.fill("no such page");
  await page.getByText("No match among pages").waitFor();
  await field.fill(id);
  await page.getByRole("option", { name: `Thread ${id}` }).waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(`/a/local/threads/${id}$`));

  // objects by a part of their name; what was opened is offered first
  const name = `palette-support ${Date.now()}`;
  const named = await fetch(`${platform.traceUrl}/api/v1/sessions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name }),
  });
  const { id: projectId } = (await named.json()) as { id: string };
  await page.keyboard.press("Control+k");
  await field.fill(name.slice(3));
  await page.getByRole("option", { name }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(`/projects/${projectId}`));
  await page.keyboard.press("Control+k");
  await page.getByRole("option", { name }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(`/projects/${projectId}`));

  // a run by a few characters of its id, and by its content
  const start = new Date().toISOString();
  const run = { id: crypto.randomUUID(), name: "palette", run_type: "chain", session_id: projectId, start_time: start };
  const answer = await fetch(`${platform.traceUrl}/api/v1/runs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...run, end_time: start, inputs: { question: `needle ${name}` }, outputs: {} }),
  });
  expect(answer.status).toBe(202);
  for (const text of [run.id.slice(24), `needle ${name}`]) {
    await page.keyboard.press("Control+k");
    await field.fill(text);
    await page.getByRole("option", { name: `palette Trace in ${name}` }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(new RegExp(`/r/${run.id}$`));
    await page.goto(platform.url);
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Inbox" }).waitFor();
  }
  // a thread by what was said in it, on the agent server too
  const said = `marzipan ${crypto.randomUUID().slice(0, 8)}`;
  const post = async (path: string, body: unknown) =>
    (await fetch(platform.agentUrl + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }).then((reply) => reply.json())) as { thread_id: string };
  const { thread_id: talk } = await post("/threads", {});
  const input = { messages: [{ role: "user", content: said }] };
  await post(`/threads/${talk}/runs/wait`, { assistant_id: "agent", input });
  await until(async () =>
    (await (await fetch(`${platform.traceUrl}/api/v1/search?q=${encodeURIComponent(said)}`)).text()).includes(talk),
  );
  await page.keyboard.press("Control+k");
  await field.fill(said);
  await page.getByRole("option", { name: new RegExp(`^${talk} Thread in`) }).click();
  await page.waitForURL(/tab=threads/);
  await page.getByRole("log", { name: "Conversation" }).getByText(`You said: ${said}`).waitFor();

  // an assistant, a part of the settings, and actions; on the page itself too
  const choose = async (text: string, option: string) => {
    await page.keyboard.press("Control+k");
    await field.fill(text);
    await page.getByRole("option", { name: option, exact: true, selected: true }).waitFor();
    await page.keyboard.press("Enter");
  };
  await page.keyboard.press("Control+k");
  await field.fill("mailer");
  await page.getByRole("option", { name: /^mailer Assistant/ }).click();
  await page.waitForURL(/\/a\/local\/assistants\//);
  await page.getByRole("heading", { level: 1, name: "mailer" }).waitFor();
  await choose("api k", "API keys Settings");
  await page.waitForURL(/\/settings\?tab=keys/);
  await choose("create dataset", "New dataset Action");
  const dialog = page.getByRole("dialog", { name: "New dataset" });
  await dialog.getByRole("textbox", { name: "Name" }).waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  await page.reload();
  await page.getByRole("button", { name: "New dataset" }).waitFor();
  expect(await dialog.count()).toBe(0);
  await choose("new data", "New dataset Action");
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await choose("dark", "Dark mode Action");
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor({ state: "attached" });

  // what was opened without the palette is offered first too
  await page.goto(`${platform.url}/a/local/threads/${talk}`);
  // titled by its first message
  await page.getByRole("heading", { level: 1, name: /marzipan/ }).waitFor();
  await page.keyboard.press("Control+k");
  expect(await page.getByRole("option").first().innerText()).toMatch(/marzipan[^]*Thread/);
  await page.getByRole("option", { name: /^mailer Assistant/ }).waitFor();
  expect(errors).toEqual([]);
  await context.close();
});
