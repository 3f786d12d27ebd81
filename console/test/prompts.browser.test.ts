/** Prompts in the console: content, commits, differences, tags and their moves, conflicts, and missing permissions. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { openBrowser, openPage, seriousFindings, until } from "./browser.ts";
import { heddle } from "./platform.ts";
import {
  chatManifest,
  fewShotManifest,
  promptApi,
  type PromptApi,
  structuredManifest,
  withModel,
} from "./seed-prompts.ts";
import { type SharedPlatform, sharedPlatform } from "./shared-platform.ts";

const FIRST = "You are a helpful assistant. Answer in {language}.";
const SECOND = "You are a terse assistant. Answer in {language}.";

let platform: SharedPlatform;
let browser: Browser;
let api: PromptApi;
beforeAll(async () => {
  platform = await sharedPlatform("open");
  browser = await openBrowser();
  api = promptApi(platform.traceUrl);
}, 240_000);
afterAll(async () => {
  await browser?.close();
});

const uniqueName = (base: string) => `${base}-${crypto.randomUUID().slice(0, 8)}`;
const promptUrl = (name: string, search = "") => `${platform.url}/prompts/-/${name}${search}`;

/** A prompt with two commits; the first has the tag production. */
async function twoCommits(base: string) {
  const name = uniqueName(base);
  await api.create(name, { description: "Answers questions", tags: ["seeded"] });
  const first = await api.commit(name, chatManifest(FIRST), "First version");
  const second = await api.commit(name, chatManifest(SECOND), "Be terse", first.hash);
  await api.tag(name, "production", first.id);
  return { name, first, second };
}

const words = async (page: Page, kind: "del" | "ins") =>
  (await page.getByRole("region", { name: "Differences" }).locator(kind).allInnerTexts()).join("|");

test("creates a prompt, finds it in the list, and edits it into a second commit", async () => {
  const { page, context, errors } = await openPage(browser);
  const name = uniqueName("created");
  await page.goto(`${platform.url}/prompts`);
  await page.getByRole("button", { name: "New prompt" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("No Capitals");
  await page.getByText("Begin with a lowercase letter").waitFor();
  expect(await page.getByRole("button", { name: "Create" }).isDisabled()).toBe(true);
  await page.getByRole("textbox", { name: "Name" }).fill(name);
  await page.getByRole("textbox", { name: "Description" }).fill("Made in the console");
  await page.getByRole("button", { name: "Create" }).click();
  await page.waitForURL(`**/${name}`);
  await page.getByText("You are a helpful assistant.").waitFor();
  await page.getByTitle("Variable question").first().waitFor();

  await page.getByRole("button", { name: "Edit", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Text of message 1").fill("Answer in {language}.");
  await dialog.getByRole("status").getByText("language").waitFor();
  await dialog.getByRole("button", { name: "Add message" }).click();
  await dialog.getByLabel("Text of message 3").fill("Think first.");
  await dialog.getByLabel("Commit message").fill("Ask for a language");
  expect(await seriousFindings(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Commit" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByText("Think first.").waitFor();
  await page.getByText("Ask for a language", { exact: true }).waitFor();
  const pulled = await api.call("GET", `/api/v1/commits/-/${name}/latest`);
  expect(JSON.stringify(pulled)).toContain('"input_variables":["language","question"]');

  // a commit that changes nothing is rejected with a reason
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await dialog.getByRole("button", { name: "Commit" }).click();
  await dialog.getByRole("alert").getByText("Could not commit").waitFor();

  await page.goto(`${platform.url}/prompts?text=${name}`);
  const row = page.getByRole("row").filter({ hasText: name });
  await row.getByText("Made in the console").waitFor();
  expect(await page.getByRole("row").count()).toBe(2);
  await row.getByRole("link", { name }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/${name}`);
  expect(errors).toEqual([]);
  await context.close();
});

test("the list filters by tag, type, visibility and archive", async () => {
  const { page, context, errors } = await openPage(browser);
  const base = uniqueName("listed");
  await api.create(`${base}-a`, { tags: [base] });
  await api.create(`${base}-b`, { repo_type: "skill" });
  await api.call("PATCH", `/api/v1/repos/-/${base}-b`, { is_archived: true });
  const shown = async (search: string) => {
    await page.goto(`${platform.url}/prompts?text=${base}${search}`);
    await page.locator("[data-row], h2").first().waitFor();
    return (await page.locator("[data-row] a").allInnerTexts()).filter((text) => text.startsWith(base)).toSorted();
  };
  expect(await shown("")).toEqual([`${base}-a`]);
  expect(await shown("&archived=allow")).toEqual([`${base}-a`, `${base}-b`]);
  expect(await shown("&archived=true")).toEqual([`${base}-b`]);
  expect(await shown("&archived=allow&type=skill")).toEqual([`${base}-b`]);
  expect(await shown(`&archived=allow&tag=${base}`)).toEqual([`${base}-a`]);
  expect(await shown("&visibility=public")).toEqual([]);
  expect(errors).toEqual([]);
  await context.close();
});

test("differences between any two commits are shown by words", async () => {
  const { page, context, errors } = await openPage(browser);
  const { name, first, second } = await twoCommits("compared");
  await page.goto(promptUrl(name, "?tab=commits"));
  const row = page.getByRole("row").filter({ hasText: "Be terse" });
  await row.getByRole("link", { name: first.hash.slice(0, 8) }).waitFor();
  await row.getByRole("button", { name: "View changes" }).click();
  await page.getByRole("region", { name: "Differences" }).locator("del").waitFor();
  expect([await words(page, "del"), await words(page, "ins")]).toEqual(["helpful", "terse"]);
  await page.getByRole("button", { name: "Swap the commits" }).click();
  await until(async () => (await words(page, "del")) === "terse" && (await words(page, "ins")) === "helpful");
  // by a tag, as links may name one
  await page.goto(promptUrl(name, `?tab=compare&from=production&to=${second.hash.slice(0, 8)}`));
  await page.getByRole("region", { name: "Differences" }).locator("del").waitFor();
  expect(await words(page, "ins")).toBe("terse");
  expect(await seriousFindings(page)).toEqual([]);
  expect(errors).toEqual([]);
  await context.close();
});

test("a tag is moved with both commits named, and rolled back with one click", async () => {
  const { page, context, errors } = await openPage(browser);
  const { name, first, second } = await twoCommits("moved");
  const [old, fresh] = [first.hash.slice(0, 8), second.hash.slice(0, 8)];
  await page.goto(promptUrl(name, "?tab=tags"));
  const production = page.getByRole("table", { name: "Tags" }).getByRole("row").filter({ hasText: "production" });
  await production.getByRole("link", { name: old }).waitFor();
  await page.getByRole("button", { name: "Set staging" }).waitFor();
  await page.getByRole("button", { name: "Move production" }).click();
  const dialog = page.getByRole("dialog");
  const move = dialog.getByRole("button", { name: "Move production" });
  expect(await move.isDisabled()).toBe(true);
  await dialog.getByRole("combobox", { name: "Commit" }).click();
  await page.getByRole("option", { name: new RegExp(`^${fresh}`) }).click();
  expect(await dialog.getByRole("status").innerText()).toBe(
    `production moves from ${old} (First version) to ${fresh} (Be terse).`,
  );
  await dialog.getByText("View changes").click();
  await dialog.locator("ins").waitFor();
  await move.click();
  await production.getByRole("link", { name: fresh }).waitFor();
  const history = page.getByRole("table", { name: "Moves of production" });
  await until(async () => (await history.getByRole("row").count()) === 3);
  await history.getByRole("button", { name: `Roll back to ${old}` }).click();
  await production.getByRole("link", { name: old }).waitFor();
  await until(async () => (await history.getByRole("row").count()) === 4);
  expect((await api.call("GET", `/api/v1/commits/-/${name}/production`))["commit_hash"]).toBe(first.hash);

  await page.getByRole("button", { name: "Delete production" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Set production" }).waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("a commit on a stale parent shows the newer commit, and overwrites nothing before the user decides", async () => {
  const { page, context, errors } = await openPage(browser);
  const { name, second } = await twoCommits("conflict");
  await page.goto(promptUrl(name));
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Text of message 1").fill("You are my assistant. Answer in {language}.");
  const theirs = await api.commit(
    name,
    chatManifest("You are a witty assistant. Answer in {language}."),
    "Wit",
    second.hash,
  );
  await dialog.getByRole("button", { name: "Commit" }).click();
  await dialog.getByText("The prompt has a newer commit").waitFor();
  const newer = dialog.getByRole("region", { name: "Newer commit" });
  expect(await newer.locator("del").innerText()).toBe("terse");
  expect(await newer.locator("ins").innerText()).toBe("witty");
  await dialog.getByRole("region", { name: "Your version" }).locator("ins").waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  expect((await api.call("GET", `/api/v1/commits/-/${name}/latest`))["commit_hash"]).toBe(theirs.hash);
  // the prompt is deleted meanwhile, and read again when the reader returns to the page
  const latest = /\/commits\/-\/[^/]+\/latest\?/;
  await page.route(latest, (route) => route.fulfill({ status: 404, json: { detail: "Not found" } }));
  await page.evaluate(() => dispatchEvent(new Event("visibilitychange")));
  await dialog.getByText("The prompt has no commits any more").waitFor();
  await dialog.getByRole("region", { name: "Your version" }).getByText("my assistant").first().waitFor();
  await page.unroute(latest);
  await page.evaluate(() => dispatchEvent(new Event("visibilitychange")));
  await dialog.getByText("The prompt has a newer commit").waitFor();
  await dialog.getByRole("button", { name: "Continue editing" }).click();
  expect(await dialog.getByLabel("Text of message 1").inputValue()).toContain("my assistant");
  await dialog.getByRole("button", { name: "Commit" }).click();
  const onTop = dialog.getByRole("button", { name: `Commit my version on top of ${theirs.hash.slice(0, 8)}` });
  const refused = (url: URL) => url.pathname.endsWith(`/commits/-/${name}`);
  await page.route(refused, (route) => route.fulfill({ status: 422, json: { detail: "The description is too long" } }));
  await onTop.click();
  await page.getByText("The description is too long").waitFor();
  await page.unroute(refused);
  await onTop.click();
  await page.getByText("You are my assistant.").waitFor();
  const { commits } = (await api.call("GET", `/api/v1/commits/-/${name}`)) as {
    commits: { parent_commit_hash: string }[];
  };
  expect(commits[0]!.parent_commit_hash).toBe(theirs.hash);
  expect(errors).toEqual([]);
  await context.close();
});

test("a comparison of a prompt without commits says so", async () => {
  const { page, context, errors } = await openPage(browser);
  const name = uniqueName("bare");
  await api.create(name);
  await page.goto(`${promptUrl(name)}?tab=compare&from=latest&to=latest`);
  await page.getByText("The prompt has no commits.").waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("few-shot examples are a table, a schema and a model are shown, and an unknown class is JSON", async () => {
  const { page, context, errors } = await openPage(browser);
  const base = uniqueName("kinds");
  const show = async (kind: string, manifest: Record<string, unknown>) => {
    await api.create(`${base}-${kind}`);
    await api.commit(`${base}-${kind}`, manifest, kind);
    await page.goto(promptUrl(`${base}-${kind}`));
  };
  await show("few-shot", fewShotManifest());
  const examples = page.getByRole("table", { name: "Examples" });
  await examples.getByRole("row").nth(2).getByText("late").waitFor();
  expect(await examples.getByRole("columnheader").allInnerTexts()).toEqual(["word", "opposite"]);
  await page.getByText("Give the opposite of each word.").waitFor();
  await page.getByTitle("Variable input").waitFor();
  expect(await page.getByText('"lc"').count()).toBe(0);

  await show("structured", withModel(structuredManifest()));
  await page.getByRole("region", { name: "Output schema" }).getByText("order_number").waitFor();
  const details = page.getByRole("complementary", { name: "Details" });
  await details.getByText("gpt-4o-mini").waitFor();
  await details.getByText("Reads OPENAI_API_KEY").waitFor();

  await show("unknown", { lc: 1, type: "constructor", id: ["my", "Own"], kwargs: { anything: "at all" } });
  await page.getByText("anything").waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("an agent's directory is shown as files, and its commits are compared by file", async () => {
  const { page, context, errors } = await openPage(browser);
  const name = uniqueName("agent");
  await api.create(name, { repo_type: "agent" });
  const path = `/v1/platform/hub/repos/-/${name}/directories/commits`;
  const file = (content: string) => ({ type: "file", content });
  await api.call("POST", path, {
    files: { "AGENTS.md": file("# Researcher"), "tools/search.py": file("def search(): ...") },
  });
  await api.call("POST", path, { files: { "AGENTS.md": file("# Careful researcher") } });
  await page.goto(promptUrl(name));
  await page.getByRole("heading", { name: "Careful researcher" }).waitFor();
  await page.getByRole("button", { name: "tools/search.py" }).click();
  await page.getByText("def search(): ...").waitFor();
  await page.waitForURL(/file=tools/);
  await page.getByRole("tab", { name: "Compare" }).click();
  await page.getByRole("article", { name: "AGENTS.md message" }).locator("ins").first().waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("a prompt is described, archived, forked and deleted with its name typed", async () => {
  const { page, context, errors } = await openPage(browser);
  const { name } = await twoCommits("settings");
  await page.goto(promptUrl(name, "?tab=readme"));
  await page.getByRole("button", { name: "Edit README" }).click();
  await page.getByRole("textbox", { name: "README" }).fill("# How to use it\n\nAsk **briefly**.");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "How to use it" }).waitFor();

  await page.getByRole("button", { name: "Fork" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill(`${name}-copy`);
  await page.getByRole("dialog").getByRole("button", { name: "Fork" }).click();
  await page.waitForURL(`**/${name}-copy`);
  await page.getByText(`Forked from`).waitFor();

  await page.goto(promptUrl(name, "?tab=settings"));
  await page.getByRole("textbox", { name: "Description" }).fill("Answers briefly");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Answers briefly · 2 commits").waitFor();
  await page.getByRole("button", { name: "Archive" }).click();
  await page.getByText("This prompt is archived").waitFor();
  await page.getByRole("button", { name: "Restore" }).click();
  await page.getByText("This prompt is archived").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Delete prompt" }).click();
  const dialog = page.getByRole("dialog");
  expect(await dialog.getByRole("button", { name: "Delete" }).isDisabled()).toBe(true);
  await dialog.getByRole("textbox").fill(name);
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.waitForURL(/\/prompts$/);
  const gone = await fetch(`${platform.traceUrl}/api/v1/repos/-/${name}`);
  expect(gone.status).toBe(404);
  expect(errors).toEqual([]);
  await context.close();
});

test("the code to pull names the tag of the shown commit", async () => {
  const { page, context, errors } = await openPage(browser);
  const { name, first, second } = await twoCommits("pulled");
  await page.goto(promptUrl(name));
  const sample = page.getByRole("region", { name: "Pull the prompt" });
  await sample.getByText(`pull_prompt("${name}:${second.hash.slice(0, 8)}")`).waitFor();
  await page.goto(promptUrl(name, "?commit=production"));
  await sample.getByText(`pull_prompt("${name}:production")`).waitFor();
  await page.getByText(FIRST.slice(0, 20)).waitFor();
  for (const language of ["TypeScript", "Shell"]) {
    await sample.getByText(language, { exact: true }).click();
    await sample.locator("pre").getByText(`${name}:production`).waitFor();
  }
  await page.goto(promptUrl(name, `?commit=${first.hash.slice(0, 8)}`));
  await page.getByText("First version").first().waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("metrics by commit show a regression, and traces link to the commit and back", async () => {
  const { page, context, errors } = await openPage(browser);
  const { name, first, second } = await twoCommits("measured");
  const project = uniqueName("measured-project");
  for (const [hash, ms] of [
    [first.hash, 100],
    [second.hash, 400],
  ] as const) {
    const id = crypto.randomUUID();
    const start = new Date(Date.now() - 60_000);
    await api.call("POST", "/api/v1/runs", {
      id,
      trace_id: id,
      dotted_order: `${start.toISOString().replace(/[-:]|\.\d+Z$/g, "")}000000Z${id}`,
      name: "answer",
      run_type: "prompt",
      session_name: project,
      start_time: start.toISOString(),
      end_time: new Date(start.getTime() + ms).toISOString(),
      inputs: { question: "?" },
      outputs: { text: "!" },
      extra: { metadata: { lc_hub_owner: "-", lc_hub_repo: name, lc_hub_commit_hash: hash } },
    });
  }
  await until(async () => {
    const { commits } = (await api.call("GET", `/api/v1/repos/-/${name}/statistics`)) as { commits: unknown[] };
    return commits.length === 2;
  });
  await page.goto(promptUrl(name, "?tab=metrics"));
  const row = page.getByRole("row").filter({ hasText: second.hash.slice(0, 8) });
  await row.getByText("▲ +300%").first().waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await row.getByRole("button", { name: "View 1 traces" }).click();
  await page.getByRole("menuitem", { name: project }).click();
  await page.waitForURL(/\/projects\//);
  await page.locator("[data-row]").getByRole("link", { name: "answer" }).click();
  await page.getByRole("link", { name: `${name}:${second.hash.slice(0, 8)}` }).click();
  await page.waitForURL(new RegExp(`/prompts/-/${name}\\?commit=${second.hash}`));
  await page.getByText("You are a terse assistant.").waitFor();

  // the tag's first move is an event on the charts of every project
  const { id } = (await (await fetch(`${platform.traceUrl}/api/v1/sessions?name=${project}`)).json())[0];
  await page.goto(`${platform.url}/projects/${id}/monitoring?last=1h`);
  await page.getByRole("table", { name: "Prompt tags moved" }).getByText(`${name}:production`).waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("a caller who may only read sees why the buttons are disabled", async () => {
  const guarded = await sharedPlatform("guarded");
  const write = (await heddle(guarded, ["keys", "create"])).match(/lsv2_\w+/)![0];
  const read = (await heddle(guarded, ["keys", "create", "--read-only"])).match(/lsv2_\w+/)![0];
  const name = uniqueName("readonly");
  const writer = promptApi(guarded.traceUrl, write);
  await writer.create(name);
  const { id } = await writer.commit(name, chatManifest(FIRST), "First version");
  await writer.tag(name, "production", id);
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${guarded.url}/prompts/-/${name}?tab=tags`);
  await page.getByLabel("API key").fill(read);
  await page.getByRole("button", { name: "Continue with key" }).click();
  const move = page.getByRole("button", { name: "Move production" });
  await move.waitFor();
  await until(async () => (await move.getAttribute("aria-disabled")) === "true");
  await move.hover();
  await page.getByRole("tooltip").getByText("prompts:tag").waitFor();
  await move.click({ force: true });
  expect(await page.getByRole("dialog").count()).toBe(0);
  for (const button of ["Edit", "Fork", "New tag", "Delete production"]) {
    expect(await page.getByRole("button", { name: button, exact: true }).getAttribute("aria-disabled")).toBe("true");
  }
  await page.mouse.move(0, 0);
  expect(await seriousFindings(page)).toEqual([]);
  await page.goto(`${guarded.url}/prompts`);
  await until(
    async () => (await page.getByRole("button", { name: "New prompt" }).getAttribute("aria-disabled")) === "true",
  );
  expect(errors).toEqual([]);
  await context.close();
});

test("a webhook is tested, created with a masked header, gets a commit, is edited and deleted", async () => {
  const received: { event: string; prompt_name: string; token: string | undefined }[] = [];
  const receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as (typeof received)[number];
      received.push({ ...body, token: request.headers["x-token"] as string | undefined });
      response.end("{}");
    });
  });
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  const { page, context, errors } = await openPage(browser);
  const { name, second } = await twoCommits("hooked");
  await page.goto(`${platform.url}/settings?tab=webhooks`);
  await page.getByRole("button", { name: "New webhook" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("URL").fill(url);
  await dialog.getByLabel("Headers").fill("X-Token: secret-value");
  await dialog.getByRole("button", { name: "Send test event" }).click();
  await dialog.getByText("The receiver answered with").waitFor();
  expect(received.map(({ event, token }) => [event, token])).toEqual([["commit", "secret-value"]]);
  await dialog.getByLabel("Moved tag").check();
  await dialog.getByRole("combobox", { name: "Prompts" }).click();
  await page.getByRole("option", { name: "Only these" }).click();
  await dialog.getByPlaceholder("Select prompts").click();
  await page.getByRole("option", { name, exact: true }).click();
  await page.keyboard.press("Escape");
  await dialog.getByRole("button", { name: "Create" }).click();
  const row = page.getByRole("row").filter({ hasText: url });
  await row.getByText("1 prompt").waitFor();
  expect(await seriousFindings(page)).toEqual([]);

  await api.commit(name, chatManifest("You are a new assistant."), "Third", second.hash);
  await until(() => received.some(({ prompt_name: prompt }) => prompt.includes(name)));
  await row.getByRole("button", { name: "Edit" }).click();
  expect(await dialog.getByLabel("Headers").inputValue()).not.toContain("secret-value");
  await dialog.getByLabel("New tag").check();
  await dialog.getByRole("button", { name: "Save" }).click();
  await row.getByText("New tag").waitFor();
  await row.getByRole("button", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await row.waitFor({ state: "detached" });
  expect(errors).toEqual([]);
  await context.close();
  await new Promise((done) => receiver.close(done));
});

test("environments are renamed, and prompts offer their tags", async () => {
  const { page, context, errors } = await openPage(browser);
  const { name } = await twoCommits("staged");
  await page.goto(`${platform.url}/settings?tab=prompts`);
  const section = page.getByRole("region", { name: "Environments" });
  const names = section.locator("input").first();
  await names.fill("canary");
  await names.press("Enter");
  await section.getByRole("button", { name: "Save" }).click();
  await section.getByRole("button", { name: "Restore defaults" }).waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await page.goto(promptUrl(name, "?tab=tags"));
  await page.getByRole("button", { name: "Set canary" }).waitFor();
  await page.goto(`${platform.url}/settings?tab=prompts`);
  await section.getByRole("button", { name: "Restore defaults" }).click();
  await section.getByRole("button", { name: "Restore defaults" }).waitFor({ state: "detached" });
  expect(errors).toEqual([]);
  await context.close();
});

test("an unknown prompt and an unknown commit say so", async () => {
  const { page, context, errors } = await openPage(browser);
  await page.goto(promptUrl(uniqueName("nowhere")));
  await page.getByRole("alert").getByText("Not found", { exact: true }).waitFor();
  const { name } = await twoCommits("known");
  await page.goto(promptUrl(name, "?commit=nosuchtag"));
  await page.getByRole("alert").getByText("Commit nosuchtag was not found").waitFor();
  expect(errors).toEqual([]);
  await context.close();
});
