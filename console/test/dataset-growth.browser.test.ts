/** Datasets that grow from use: mappings with a preview, near-duplicates, and proposals that are reviewed by keys. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { modelServer, type ModelServer } from "../../server/test/model-server.ts";
import { openBrowser, openPage, until } from "./browser.ts";
import { countInputs } from "./count-inputs.ts";
import { connect, place, send } from "./seed-traces.ts";
import { type SharedPlatform, sharedPlatform } from "./shared-platform.ts";

let platform: SharedPlatform;
let browser: Browser;
let models: ModelServer;
beforeAll(async () => {
  [platform, browser, models] = await Promise.all([sharedPlatform("open"), openBrowser(), modelServer()]);
}, 180_000);
afterAll(async () => {
  await browser?.close();
});

// oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect to be there
async function api(method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(`${platform.traceUrl}${path}`, {
    method,
    headers: { "Content-Type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.status === 204 ? undefined : response.json();
}

test("a run is mapped to an example with a preview, and the mapping is remembered", async () => {
  const project = `Mapped ${crypto.randomUUID()}`;
  const id = crypto.randomUUID();
  const start = Date.now() - 60_000;
  const more = { inputs: { messages: [{ content: "first" }, { content: "last words" }] }, outputs: { reply: "yes" } };
  await send(connect(platform.traceUrl), project, [
    place({ id, name: "mapped", run_type: "chain", start, end: start + 1, more }),
  ]);
  const { id: projectId } = await connect(platform.traceUrl).readProject({ projectName: project });
  const { id: datasetId } = await api("POST", "/datasets", { name: project });
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/projects/${projectId}/r/${id}`);
  const open = async () => {
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Add to dataset" }).click();
    await page
      .getByRole("combobox", { name: "Dataset", exact: true })
      .or(page.getByRole("textbox", { name: "Dataset", exact: true }))
      .first()
      .click();
    await page.getByRole("option", { name: project }).click();
    await page.getByRole("button", { name: "Edit mapping and preview" }).click();
  };
  await open();
  const preview = page.getByRole("region", { name: "Preview of the first run" });
  await preview.getByText("last words").waitFor();
  await page.getByLabel("Field 1").fill("question");
  await page.getByLabel("Path 1").fill("inputs.messages[-1].content");
  await preview.getByText("question").waitFor();
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("heading", { name: project }).waitFor();
  await until(async () => (await api("GET", `/examples?dataset=${datasetId}`)).length === 1);
  expect(await api("GET", `/examples?dataset=${datasetId}`)).toMatchObject([
    { inputs: { question: "last words" }, outputs: { reply: "yes" }, source_run_id: id },
  ]);
  await page.goto(`${platform.url}/projects/${projectId}/r/${id}`);
  await open();
  expect(await page.getByLabel("Path 1").inputValue()).toBe("inputs.messages[-1].content");
  await preview.getByText("The dataset has an example of this run.").waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("proposals are accepted, edited and rejected by keys, and count when they are accepted", async () => {
  await api("POST", "/workspaces/current/secrets", [{ key: "OPENAI_API_KEY", value: "sk-test" }]);
  const settings = { base_url: `${models.url}/v1` };
  const name = `Varied ${crypto.randomUUID()}`;
  await api("POST", "/models/connections", { name, provider: "openai", settings, default_model: "varied" });
  const { id } = await api("POST", "/datasets", { name });
  await api("POST", "/examples", { dataset_id: id, inputs: { question: "Why?" }, outputs: { answer: "Because." } });
  const { page, context, errors } = await openPage(browser);
  const inputs = await countInputs(context);
  await page.goto(`${platform.url}/datasets/${id}?tab=proposals`);
  await page.getByRole("button", { name: "Generate variants" }).click();
  const dialog = page.getByRole("dialog", { name: "Generate variants" });
  await dialog.getByLabel("Model connection").first().click();
  await page.getByRole("option", { name }).click();
  await dialog.getByLabel("Variants").first().fill("3");
  await dialog.getByRole("button", { name: "Generate" }).click();
  await page.getByText("3 to review").waitFor();
  expect(await api("GET", `/examples/count?dataset=${id}`)).toBe(1);
  Object.assign(inputs, { clicks: 0, keys: 0 });
  await page.keyboard.press("a");
  await page.getByText("2 to review").waitFor();
  await page.keyboard.press("r");
  await page.getByText("1 to review").waitFor();
  await page.keyboard.press("e");
  await page.getByLabel("Outputs").fill('{"answer": "Edited"}');
  await page.keyboard.press("Control+Enter");
  await page.getByText("Nothing to review").waitFor();
  expect(inputs.clicks).toBe(0);
  expect(await api("GET", `/examples/count?dataset=${id}`)).toBe(3);
  const [newest] = await api("GET", `/examples?dataset=${id}&order=recently_created&limit=1`);
  expect(newest).toMatchObject({ outputs: { answer: "Edited" }, metadata: { synthetic: true, edited: true } });
  expect(errors).toEqual([]);
  await context.close();
});

test("near-duplicates are shown in groups, of which one example is kept", async () => {
  const name = `Alike ${crypto.randomUUID()}`;
  const { id } = await api("POST", "/datasets", { name });
  const questions = ["How do I get my money back?", "how do I get my money back", "What is the weather in Lima?"];
  for (const question of questions) await api("POST", "/examples", { dataset_id: id, inputs: { question } });
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/datasets/${id}?tab=duplicates`);
  await page.getByText("1 groups among 3 examples").waitFor();
  await page.getByRole("button", { name: "Keep the first, remove 1" }).click();
  await page.getByText("No near-duplicates").waitFor();
  expect(await api("GET", `/examples/count?dataset=${id}`)).toBe(2);
  expect(errors).toEqual([]);
  await context.close();
});

test("a dataset gets a workspace tag, by which the list is filtered", async () => {
  const name = `Tagged ${crypto.randomUUID()}`;
  const { id } = await api("POST", "/datasets", { name });
  await api("POST", "/datasets", { name: `Not ${name}` });
  const { page, context, errors } = await openPage(browser);
  await page.goto(`${platform.url}/datasets/${id}`);
  await page.getByRole("button", { name: "Dataset actions" }).click();
  await page.getByRole("menuitem", { name: "Workspace tags" }).click();
  const field = page.getByRole("textbox", { name: "Workspace tags" }).or(page.getByLabel("Workspace tags")).first();
  await field.fill("no colon");
  await field.press("Enter");
  await page.getByText('Write a tag as "key: value"').waitFor();
  await field.fill(`team: ${name}`);
  await field.press("Enter");
  const tags = async () =>
    await api("GET", `/workspaces/current/tags/resource?resource_type=dataset&resource_id=${id}`);
  await until(async () => (await tags()).length === 1);
  expect(await tags()).toMatchObject([{ key: "team", values: [{ value: name }] }]);
  await page.goto(`${platform.url}/datasets?text=Tagged`);
  await page.getByRole("link", { name: `Not ${name}` }).waitFor();
  await page.getByLabel("Filter by workspace tags").first().click();
  await page.getByRole("option", { name, exact: true }).click();
  await until(async () => (await page.getByRole("link", { name: `Not ${name}` }).count()) === 0);
  await page.getByRole("link", { name, exact: true }).waitFor();
  expect(errors).toEqual([]);
  await context.close();
});
