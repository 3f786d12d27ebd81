/** The page of examples/support-bot: a streamed answer, a question that staff answer in another window, a thumb. */
import { Client } from "langsmith";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { openBrowser, openPage, seriousFindings, until } from "./browser.ts";
import { type Platform, startPlatform } from "./platform.ts";

let browser: Browser;
let platform: Platform | undefined;

beforeAll(async () => {
  [browser, platform] = await Promise.all([
    openBrowser(),
    startPlatform("dev", {}, "examples/support-bot/langgraph.json"),
  ]);
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await platform?.stop();
}, 60_000);

async function signIn(user: string): Promise<{ page: Page; errors: string[] }> {
  const { page, errors } = await openPage(browser);
  await page.goto(`${platform!.agentUrl}/chat`);
  await page.getByRole("button", { name: user }).click();
  return { page, errors };
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message").fill(text);
  await page.getByRole("button", { name: "Send" }).click();
}

test("a customer's answer is streamed, a refund waits for staff, and a thumb arrives on the trace", async () => {
  const ada = await signIn("ada");
  const answers = ada.page.locator('li[data-type="ai"]');
  // every length of the last answer that the page shows
  await ada.page.evaluate(() => {
    const seen = ((globalThis as unknown as { lengths: number[] }).lengths = []) as number[];
    const watch = () => seen.push([...document.querySelectorAll('li[data-type="ai"]')].at(-1)?.textContent.length ?? 0);
    new MutationObserver(watch).observe(document.body, { childList: true, subtree: true, characterData: true });
  });
  await say(ada.page, "Where is my order 17?");
  await answers.filter({ hasText: "Order 17, a kettle for €30, is delivered on Monday." }).waitFor();
  const lengths = await ada.page.evaluate(() => new Set((globalThis as unknown as { lengths: number[] }).lengths).size);
  expect(lengths).toBeGreaterThan(4);
  expect(await seriousFindings(ada.page)).toEqual([]);

  await say(ada.page, "Please refund orders 42 and 17");
  const lamp = "Refund order 42 (a lamp, €49) of ada?";
  const kettle = "Refund order 17 (a kettle, €30) of ada?";
  await ada.page.getByText(`Waiting for a colleague: ${lamp} ${kettle}`).waitFor();
  expect(await ada.page.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);

  const sam = await signIn("sam");
  const question = (text: string) => sam.page.locator("li").filter({ hasText: text });
  await question(lamp).getByRole("button", { name: "Approve" }).click();
  await question(lamp).waitFor({ state: "detached" });
  await question(kettle).getByRole("button", { name: "Reject" }).click();
  await sam.page.getByText("No questions.").waitFor();
  await answers
    .filter({ hasText: "Order 42 is refunded: €49. It was approved by sam. Order 17 cannot be refunded." })
    .waitFor();
  const bob = await signIn("bob");
  await bob.page.getByLabel("Message").waitFor();
  expect(await bob.page.locator("li").count()).toBe(0);

  await say(ada.page, "Remember that I like tea");
  await answers.filter({ hasText: "I will remember that I like tea." }).waitFor();
  await ada.page.getByRole("button", { name: "Yes" }).click();
  await ada.page.getByText("Thank you.").waitFor();
  const traces = new Client({ apiUrl: platform!.traceUrl, apiKey: "none" });
  const scores = async () => {
    const runIds: string[] = [];
    for await (const run of traces.listRuns({ projectName: "default", isRoot: true })) runIds.push(run.id);
    const found: unknown[] = [];
    for await (const { key, score } of traces.listFeedback({ runIds })) found.push({ key, score });
    return found;
  };
  await until(async () => (await scores().catch(() => [])).length > 0);
  expect(await scores()).toEqual([{ key: "thumbs", score: 1 }]);

  await ada.page.getByRole("button", { name: "New conversation" }).click();
  await say(ada.page, "What do you know about me?");
  await answers.filter({ hasText: "You told me: I like tea" }).waitFor();
  expect([...ada.errors, ...sam.errors, ...bob.errors]).toEqual([]);
});
