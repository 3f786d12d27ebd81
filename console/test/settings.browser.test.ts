/** Members, keys and permissions, on a platform that requires a credential for everything. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { checkOpenPage, openBrowser, openPage, seriousFindings, until } from "./browser.ts";
import { heddle } from "./platform.ts";
import { type SharedPlatform, sharedPlatform } from "./shared-platform.ts";

const EMAIL = "ada@example.com";
const PASSWORD = "a long enough password";
const OTHER = "grace@example.com";

let platform: SharedPlatform;
let browser: Browser;

beforeAll(async () => {
  platform = await sharedPlatform("guarded");
  browser = await openBrowser();
  await heddle(platform, ["users", "create", "--email", EMAIL, "--name", "Ada", "--password-stdin"], `${PASSWORD}\n`);
  await heddle(platform, ["users", "create", "--email", OTHER, "--name", "Grace", "--password-stdin"], `${PASSWORD}\n`);
}, 240_000);
afterAll(async () => {
  await browser?.close();
}, 60_000);

async function signIn(page: Page, email = EMAIL): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel(/^Password/).fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
}

test("a signed-out visitor is sent to the sign-in page and back, also in the middle of work", async () => {
  const { page, context, errors } = await openPage(browser);
  const requests: string[] = [];
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    if (pathname.startsWith("/api/")) requests.push(`${response.status()} ${pathname.slice("/api/".length)}`);
  });
  await page.goto(`${platform.url}/settings?tab=roles`);
  await page.waitForURL(/\/sign-in\?next=/);
  await page.getByLabel("Email").fill(EMAIL);
  // an unauthenticated visitor causes one identity check, and then only the request for the sign-in methods
  expect(requests).toEqual(["401 trace/auth/public", "200 trace/api/v1/auth/sign-in-methods"]);
  await page.getByLabel(/^Password/).fill("wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").waitFor();
  await signIn(page);
  await page.waitForURL(/\/settings\?tab=roles$/);
  await page.getByText("Organization Admin").waitFor();
  // the session is valid for the control plane too
  await page.goto(`${platform.url}/deployments`);
  await page.getByText("No deployments yet").waitFor();

  await page.goto(`${platform.url}/settings?tab=members`);
  await page.getByText("Ada", { exact: true }).waitFor();
  const ended = await page.request.post(`${platform.url}/api/trace/api/v1/logout`, {
    headers: { "x-heddle-csrf": await page.evaluate(() => localStorage.getItem("heddle.csrf")!) },
    data: { everywhere: true },
  });
  expect(ended.status()).toBe(204);
  await page.getByRole("tab", { name: "API keys" }).click();
  await page.waitForURL(/\/sign-in\?next=/);
  await signIn(page);
  await page.waitForURL(/\/settings\?tab=keys$/);
  expect(errors).toEqual([]);
  await context.close();
}, 60_000);

test("a key is shown once, authenticates until it is revoked, and not after", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/settings?tab=keys`);
  await signIn(page);
  const service = page.getByRole("region", { name: "Service keys" }).first();
  await service.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Description").fill("nightly job");
  await page.getByRole("button", { name: "Create key" }).click();
  const key = await page.getByLabel("Key", { exact: true }).textContent();
  expect(key).toMatch(/^lsv2_/);
  await page.getByRole("button", { name: "Done" }).click();
  await service.getByText("nightly job").waitFor();
  expect(await page.content()).not.toContain(key!);

  const other = await openPage(browser);
  await other.page.goto(`${platform.url}/settings?tab=limits`);
  await other.page.getByLabel("API key").fill(key!);
  await other.page.getByRole("button", { name: "Continue with key" }).click();
  await other.page.waitForURL(/\/settings\?tab=limits$/);
  await other.page.getByLabel("Only limits in use").click({ force: true });
  await other.page.getByText("default.key").waitFor();
  expect(Number(await other.page.getByRole("progressbar").first().getAttribute("aria-valuenow"))).toBeGreaterThan(0);

  await service.getByRole("row").filter({ hasText: "nightly job" }).getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await service.getByText("nightly job").waitFor({ state: "detached" });
  await other.page.waitForURL(/\/sign-in/, { timeout: 20_000 });
  // the first start's key is valid everywhere, so it is listed although it belongs to no workspace
  const beyond = page.getByRole("region", { name: "Organization keys" }).first();
  const first = beyond.getByRole("row").filter({ hasText: "Initial admin key" });
  await first.getByText("all", { exact: true }).waitFor();
  expect(await first.getByRole("button", { name: "Revoke" }).count()).toBe(1);
  expect([errors, other.errors]).toEqual([[], []]);
  await other.context.close();
  await context.close();
}, 60_000);

test("creates a workspace and a role, invites a user, revokes the invitation, and the audit log lists it", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/settings?tab=workspaces`);
  await signIn(page);
  await page.getByRole("button", { name: "New workspace" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("Research");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("row").filter({ hasText: "Research" }).waitFor();

  await page.getByRole("tab", { name: "Roles" }).click();
  await page.getByRole("button", { name: "New role" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("Watcher");
  await page.getByRole("checkbox", { name: "runs:read", exact: true }).check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: /Watcher/ }).click();
  await page.getByRole("button", { name: "Edit", exact: true }).waitFor();

  await page.getByRole("tab", { name: "Members" }).click();
  await page.getByRole("button", { name: "Invite member" }).click();
  await page.getByRole("textbox", { name: "Email" }).fill("bob@example.com");
  await page.getByRole("dialog").getByRole("button", { name: "Invite member" }).click();
  const bob = page.getByRole("row").filter({ hasText: "bob@example.com" });
  await bob.getByText("invited").waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await bob.getByRole("button", { name: "Revoke invite" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke invite" }).click();
  await bob.waitFor({ state: "detached" });

  await page.getByRole("tab", { name: "Audit log" }).click();
  await page.getByText("Create role").first().waitFor();
  await page.getByLabel("Action", { exact: true }).fill("Create role");
  await page.getByLabel("Action", { exact: true }).press("Enter");
  await page.waitForURL(/operation=create_role/);
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "CSV" }).click();
  expect((await saved).suggestedFilename()).toBe("audit-log.csv");
  expect(await seriousFindings(page)).toEqual([]);
  expect(errors).toEqual([]);
  await context.close();
}, 60_000);

test("a changed role applies at the member's next page load", async () => {
  const { page, context, errors } = await openPage(browser);
  const other = await openPage(browser);
  await other.page.goto(`${platform.url}/settings?tab=members`);
  await signIn(other.page, OTHER);
  await other.page.getByText("Ada", { exact: true }).waitFor();
  await page.goto(`${platform.url}/settings?tab=members`);
  await signIn(page);
  const role = page.getByRole("combobox", { name: `Role of ${OTHER}` });
  await role.waitFor();
  const change = async (to: string) => {
    await role.click();
    await page.getByRole("option", { name: to }).click();
    await until(async () => (await role.inputValue()).toLowerCase() === to.toLowerCase() && (await role.isEnabled()));
  };
  await change("Organization user");
  await other.page.reload();
  await other.page.getByText("Ada", { exact: true }).waitFor();
  // the member's permissions are loaded in parallel with the list
  await other.page.waitForLoadState("networkidle");
  expect(await other.page.getByRole("button", { name: "Invite member" }).count()).toBe(0);
  await change("Organization admin");
  await other.page.reload();
  await other.page.getByRole("button", { name: "Invite member" }).waitFor();
  expect([errors, other.errors]).toEqual([[], []]);
  await other.context.close();
  await context.close();
}, 120_000);

test("renames a workspace, enters it, and shows only its data", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/settings?tab=workspaces`);
  await signIn(page);
  const name = `Lab ${crypto.randomUUID().slice(0, 8)}`;
  await page.getByRole("button", { name: "New workspace" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill(`${name} to be`);
  await page.getByRole("button", { name: "Create" }).click();
  const row = page.getByRole("row").filter({ hasText: name });
  await row.getByRole("button", { name: "Rename" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill(name);
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await row.getByText(name, { exact: true }).waitFor();
  await page.getByRole("button", { name: "Account and workspace" }).click();
  await page.getByRole("menuitem", { name }).click();
  await row.getByText("· current").waitFor();
  await page.getByRole("tab", { name: "API keys" }).click();
  const service = page.getByRole("region", { name: "Service keys" }).first();
  await service.getByText("No keys yet").waitFor();
  expect(errors).toEqual([]);
  await context.close();
}, 120_000);

test("on a phone the tabs form one line with the selected tab in view", async () => {
  const { page, context, errors } = await openPage(browser, { width: 390 });
  await page.goto(`${platform.url}/settings?tab=account`);
  await signIn(page);
  const inSight = async (name: string) => {
    const [tab, list] = [page.getByRole("tab", { name, exact: true }), page.getByRole("tablist")];
    await tab.waitFor();
    const [inside, around] = [(await tab.boundingBox())!, (await list.boundingBox())!];
    expect(around.height).toBeLessThan(inside.height + 4);
    return inside.x >= 0 && inside.x + inside.width <= 390;
  };
  await until(() => inSight("Account"));
  expect(await inSight("Workspaces")).toBe(false);
  // a tab that gets the keyboard focus is scrolled into view
  await page.getByRole("tab", { name: "Account" }).focus();
  await page.keyboard.press("Home");
  await until(() => inSight("Workspaces"));
  await page.keyboard.press("Enter");
  await page.waitForURL(/tab=workspaces/);
  expect(await inSight("Workspaces")).toBe(true);
  expect(errors).toEqual([]);
  await context.close();
}, 60_000);

test("a viewer's buttons of models and prompts are disabled with the reason", async () => {
  const printed = await heddle(platform, ["keys", "create", "--role", "viewer", "--json"]);
  const { key } = JSON.parse(printed) as { key: string };
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/settings?tab=models`);
  await page.getByLabel("API key").fill(key);
  await page
    .getByRole("button", { name: /^(Sign in|Continue)/ })
    .last()
    .click();
  const create = page.getByRole("button", { name: "New connection" });
  await create.waitFor();
  await until(() => create.isDisabled());
  const reason = await create.evaluate(
    (button) => document.getElementById(button.getAttribute("aria-describedby") ?? "")?.textContent,
  );
  expect(reason).toBe("Your role lacks the permission models:manage.");
  await page.goto(`${platform.url}/playground`);
  const run = page.getByRole("button", { name: "Run", exact: true });
  await until(async () => (await run.getAttribute("title")) === "Your role lacks the permission models:call.");
  expect(await run.getAttribute("aria-disabled")).toBe("true");
  await page.keyboard.press("Control+s");
  expect(await page.getByRole("dialog").count()).toBe(0);
  expect(errors).toEqual([]);
  await context.close();
}, 60_000);

test("every settings page fits at three widths, light and dark", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/settings?tab=workspaces`);
  await signIn(page);
  const problems: string[] = [];
  for (const [title, ready] of [
    ["Workspaces", "text=· current"],
    ["Members", "text=Grace"],
    ["Roles", "text=Organization admin"],
    ["API keys", "text=Your personal keys"],
    ["Models", "text=@langchain/openai"],
    ["Prompts", "text=Environments"],
    ["Prompt webhooks", "text=No prompt webhooks yet"],
    ["Masking", "text=Nothing is masked"],
    ["Rate limits", "text=default.key"],
    ["Audit log", "text=/^Create (role|workspace|API key)/"],
    ["Account", `text=${EMAIL}`],
  ] as const) {
    await page.getByRole("tab", { name: title, exact: true }).click();
    problems.push(...(await checkOpenPage(page, `settings-${title.toLowerCase().replaceAll(" ", "-")}`, ready)));
  }
  expect([...problems, ...errors]).toEqual([]);
  await context.close();
}, 300_000);

test("a masking rule is tried, created, disabled and deleted", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/settings?tab=masking`);
  await signIn(page);
  await page.getByRole("button", { name: "New rule" }).click();
  const form = page.getByRole("dialog");
  await form.getByRole("textbox", { name: "Name", exact: true }).fill("customers");
  await form.getByLabel("Pattern").fill("CUST-[0-9]+");
  await form.getByLabel("Try a text").fill("CUST-42 is ada@example.com");
  await form.getByText("[masked] is [email]").waitFor();
  await form.getByRole("button", { name: "Create" }).click();
  const row = page.getByRole("row").filter({ hasText: "customers" });
  await row.getByText("nothing").waitFor();
  await row.getByLabel("Enable customers").click({ force: true });
  await until(async () => !(await row.getByLabel("Enable customers").isChecked()));
  await row.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("Nothing is masked").waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("a password change needs the current password, and all sessions can be ended", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/settings?tab=account`);
  await signIn(page);
  await page.getByText(EMAIL).waitFor();
  const fill = async (current: string, next: string) => {
    await page.getByLabel("Current password").fill(current);
    await page.getByLabel(/^New password \*?$|^New password$/).fill(next);
    await page.getByLabel("Confirm password").fill(next);
    await page.getByRole("button", { name: "Change password" }).click();
  };
  await fill("wrong", "another long password");
  await page.getByRole("alert").waitFor();
  await fill(PASSWORD, "another long password");
  await page.getByText("Password changed").waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Sign out everywhere" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Sign out everywhere" }).click();
  await page.waitForURL(/\/sign-in/);
  expect(errors).toEqual([]);
  await context.close();
}, 60_000);
