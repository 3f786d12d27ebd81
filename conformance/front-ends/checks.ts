/** What every front end must do; the pages are those of the applications beside this file. */
import type { Browser, Page } from "playwright-core";

export interface FrontEnd {
  browser: Browser;
  /** URL of the application's page, with the server's URL and key in its query. */
  page: string;
  apiUrl: string;
  key: string;
  /** Called with the name of each check, and with the reason if it failed. */
  report(check: string, error?: string): void;
}

const LONG = Array.from({ length: 220 }, (_, index) => `word${index}`).join(" ");
const WAIT_MS = 30_000;

export async function checkFrontEnd(frontEnd: FrontEnd): Promise<void> {
  await check(frontEnd, "chat: an answer grows token by token, and the thread remembers", chat);
  await check(frontEnd, "tool calls: shows a call with its arguments, and the answer that uses its result", toolCalls);
  await check(frontEnd, "interrupt: shows the question and resumes with the answer", interrupt);
  await check(frontEnd, "interrupt: a reload shows the question again", interruptAfterReload);
  await check(frontEnd, "reload in the middle of a stream: the answer is completed, once", reload);
}

async function check(
  frontEnd: FrontEnd,
  name: string,
  run: (page: Page, frontEnd: FrontEnd) => Promise<void>,
): Promise<void> {
  const context = await frontEnd.browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (/CORS|Pages of/.test(message.text())) problems.push(message.text());
  });
  try {
    await run(page, frontEnd);
    if (problems.length > 0) throw new Error(problems.join("; "));
    frontEnd.report(name);
  } catch (error) {
    const shown = await page.innerText("body").catch(() => "");
    frontEnd.report(
      name,
      `${(error as Error).message.slice(0, 600)}\n     page: ${shown.replaceAll(/\s+/g, " ").slice(0, 300)}\n     ${problems.join("; ").slice(0, 600)}`,
    );
  } finally {
    await context.close();
  }
}

const open = (page: Page, { page: url }: FrontEnd, assistant = "agent") => page.goto(`${url}&assistant=${assistant}`);

async function send(page: Page, text: string): Promise<void> {
  await page.fill("#text", text);
  await page.click("#send");
}

const answer = (page: Page, text: string) => page.locator(`li[data-type="ai"]`, { hasText: text }).first().waitFor();
const ready = (page: Page) => page.locator(`[role="status"]`, { hasText: "ready" }).waitFor();

async function chat(page: Page, frontEnd: FrontEnd): Promise<void> {
  await open(page, frontEnd);
  await page.locator("#text").waitFor();
  await page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(window, { seen });
    new MutationObserver(() => {
      const text = [...document.querySelectorAll(`li[data-type="ai"]`)].at(-1)?.textContent ?? "";
      if (text !== "" && seen.at(-1) !== text) seen.push(text);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  const words = LONG.slice(0, 300);
  await send(page, words);
  await answer(page, `You said: ${words}`);
  await ready(page);
  const seen = await page.evaluate(() => (window as unknown as { seen: string[] }).seen);
  const parts = seen.filter((text) => `You said: ${words}`.startsWith(text)).length;
  if (parts < 3) throw new Error(`the answer did not grow: ${JSON.stringify(seen)}`);
  await send(page, "My name is Ada.");
  await answer(page, "Nice to meet you, Ada.");
  await ready(page);
  await send(page, "What is my name?");
  await answer(page, "Your name is Ada.");
  await ready(page);
  await expectTexts(page, "human", [words, "My name is Ada.", "What is my name?"]);
  await expectTexts(page, "ai", [`You said: ${words}`, "Nice to meet you, Ada.", "Your name is Ada."]);
}

async function toolCalls(page: Page, frontEnd: FrontEnd): Promise<void> {
  await open(page, frontEnd);
  await send(page, "What is the weather in Berlin?");
  await answer(page, "In Berlin it is");
  await ready(page);
  const calls = await page.locator(`li[data-type="tool-call"]`).allInnerTexts();
  if (calls.length !== 1 || !/^get_weather \{"city": ?"Berlin"\}$/.test(calls[0]!)) {
    throw new Error(`shows the tool calls ${JSON.stringify(calls)}`);
  }
  await send(page, "What is 17 * 23?");
  await answer(page, "391");
  await ready(page);
}

async function interrupt(page: Page, frontEnd: FrontEnd): Promise<void> {
  await ask(page, frontEnd);
  await page.click("#approve");
  await untilSent(page, frontEnd);
  await page.locator("#question").waitFor({ state: "detached" });
}

async function interruptAfterReload(page: Page, frontEnd: FrontEnd): Promise<void> {
  await ask(page, frontEnd);
  await page.reload();
  await page.locator("#question", { hasText: "Shall this be sent?" }).waitFor();
  await ready(page);
  await page.click("#approve");
  // hooks of SDK 1.11 show the question from the state, and reject the answer until their own stream has replayed it
  const rejection = page.getByText("No pending interrupt to respond to.");
  const isRejected = await rejection.waitFor({ timeout: 1000 }).then(
    () => true,
    () => false,
  );
  if (isRejected) await page.click("#approve");
  await untilSent(page, frontEnd);
}

async function ask(page: Page, frontEnd: FrontEnd): Promise<void> {
  await open(page, frontEnd, "approval");
  await send(page, "lunch");
  await page.locator("#question", { hasText: "Shall this be sent?" }).waitFor();
}

async function untilSent(page: Page, frontEnd: FrontEnd): Promise<void> {
  for (const deadline = Date.now() + WAIT_MS; ;) {
    const { values } = await stateOf(page, frontEnd);
    if (values.status === "sent") return;
    if (Date.now() > deadline) throw new Error(`the graph did not continue: ${JSON.stringify(values)}`);
    await page.waitForTimeout(50);
  }
}

async function reload(page: Page, frontEnd: FrontEnd): Promise<void> {
  await open(page, frontEnd);
  await send(page, LONG);
  await answer(page, "word3");
  const early = (await page.locator(`li[data-type="ai"]`).last().innerText()).length;
  if (early > LONG.length * 0.8) throw new Error("the answer was complete before the reload");
  await page.reload();
  await answer(page, "word219");
  await ready(page);
  await expectTexts(page, "human", [LONG]);
  await expectTexts(page, "ai", [`You said: ${LONG}`]);
  const { values } = await stateOf(page, frontEnd);
  if (values.messages?.length !== 2) throw new Error(`the thread has ${values.messages?.length} messages`);
}

async function stateOf(
  page: Page,
  { apiUrl, key }: FrontEnd,
): Promise<{ values: { status?: string; messages?: unknown[] } }> {
  const thread = new URL(page.url()).searchParams.get("thread");
  const response = await fetch(`${apiUrl}/threads/${thread}/state`, { headers: { "x-api-key": key } });
  return (await response.json()) as { values: { status?: string; messages?: unknown[] } };
}

async function expectTexts(page: Page, type: string, expected: string[]): Promise<void> {
  const texts = await page.locator(`li[data-type="${type}"]`).allInnerTexts();
  const shown = texts.filter((text) => text !== "");
  if (JSON.stringify(shown) !== JSON.stringify(expected)) {
    throw new Error(`shows the ${type} messages ${JSON.stringify(shown).slice(0, 400)}`);
  }
}
