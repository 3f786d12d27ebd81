/**
 * Signing in and out in the browser: at an OpenID provider, with a password; and behaviour when the server becomes unavailable.
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { testProvider } from "../../server/test/openid-provider.ts";
import { openBrowser, openPage, until } from "./browser.ts";
import { keptResults } from "./kept-results.ts";
import { freePort } from "../../server/src/base/free-port.ts";
import { heddle, type Platform, startPlatform } from "./platform.ts";

const EMAIL = "ada@example.com";
const PASSWORD = "a long enough password";
const port = await freePort();
const publicUrl = `http://127.0.0.1:${port}/api/trace`;
const client = { id: "heddle", secret: "a client's secret", redirectUri: `${publicUrl}/auth/oidc/callback` };
const provider = await testProvider(client);

let platform: Platform;
let browser: Browser;
beforeAll(async () => {
  platform = await startPlatform("dev", {
    HEDDLE_CONSOLE_PORT: String(port),
    HEDDLE_AUTH: "required",
    HEDDLE_PUBLIC_URL: publicUrl,
    HEDDLE_OIDC_ISSUER: provider.issuer,
    HEDDLE_OUTBOUND_ALLOW: new URL(provider.issuer).host,
    HEDDLE_OIDC_CLIENT_ID: client.id,
    HEDDLE_OIDC_CLIENT_SECRET: client.secret,
  });
  browser = await openBrowser();
  await heddle(platform, ["users", "create", "--email", EMAIL, "--name", "Ada", "--password-stdin"], `${PASSWORD}\n`);
});
afterAll(async () => {
  await browser?.close();
  await platform?.stop();
});

async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Account and workspace" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.waitForURL(/\/sign-in/);
}

test("signs in at the identity provider, returns to the requested page, and signs out", async () => {
  provider.account = { sub: "ada-1", email: EMAIL, email_verified: true, name: "Ada" };
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/a/local/assistants?q=agent`);
  await page.waitForURL(/\/sign-in\?next=/);
  const link = page.getByRole("link", { name: `Sign in with ${new URL(provider.issuer).host}` });
  provider.rejects = true;
  await link.click();
  await page
    .getByRole("alert")
    .filter({ hasText: /rejected|denied|cancel/i })
    .waitFor();
  provider.rejects = false;
  await page.goto(`${platform.url}/a/local/assistants?q=agent`);
  await link.click();
  // the token is removed from the address
  await page.waitForURL(/\/a\/local\/assistants\?q=agent$/);
  await page.getByRole("link", { name: "agent", exact: true }).waitFor();
  await page.getByRole("button", { name: "Account and workspace" }).click();
  await page.getByText(EMAIL).waitFor();
  await page.keyboard.press("Escape");
  // what is kept for times without the server goes with the session
  const hide = () => {
    Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  };
  await until(async () => {
    await page.evaluate(hide);
    return (await keptResults(page)) !== "";
  });
  await signOut(page);
  expect(await keptResults(page)).toBe("");
  await page.goto(`${platform.url}/a/local/threads`);
  await page.waitForURL(/\/sign-in\?next=/);
  expect(errors).toEqual([]);
  await context.close();
});

test("signs in with a password; a stream and the session survive a restart of the server", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/a/local/playground?assistant=agent&panel=setup`);
  await page.getByLabel("Email").fill(EMAIL);
  await page.getByLabel(/^Password/).fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("textbox", { name: "Config as JSON" }).fill('{"configurable": {"delay": 350}}');
  const text = Array.from({ length: 24 }, (_, word) => `word${word}`).join(" ");
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
  const answer = page.getByRole("article", { name: "Assistant" });
  await answer.filter({ hasText: "You said: word0 word1 word2" }).waitFor();
  const restarted = platform.restart();
  // the page says that it lost its server, and that it is back
  await page.getByText("Server unreachable.").waitFor({ timeout: 60_000 });
  await Promise.all([restarted, page.getByText("Reconnected.").waitFor({ timeout: 120_000 })]);
  // without a reload: the same run, its answer complete and shown once
  await answer.filter({ hasText: `You said: ${text}` }).waitFor({ timeout: 90_000 });
  await page.getByRole("group", { name: "Run", exact: true }).getByText("Success", { exact: true }).waitFor();
  expect(await page.getByRole("article").count()).toBe(2);
  expect((await answer.innerText()).match(/word7\b/g)).toHaveLength(1);
  const thread = new URL(page.url()).searchParams.get("thread")!;
  const headers = { "x-heddle-csrf": await page.evaluate(() => localStorage.getItem("heddle.csrf")!) };
  const response = await page.request.get(`${platform.url}/api/agent/threads/${thread}/runs`, { headers });
  expect(await response.json()).toMatchObject([{ status: "success" }]);
  await page.reload();
  await answer.filter({ hasText: `You said: ${text}` }).waitFor();
  await signOut(page);
  // the client logs each request that reached no server to the browser's console
  expect(errors.filter((text) => !/Unable to connect to LangGraph server/.test(text))).toEqual([]);
  await context.close();
});
