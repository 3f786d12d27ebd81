/** Deploying by image in the browser: the form, a newer image, a missing image, and deletion, on a real engine. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import type { Browser } from "playwright-core";
import { describe, expect, test } from "vitest";

import { atEnd } from "../../server/test/at-end.ts";
import { graphProject } from "../../server/test/deploy.ts";
import { hasPodman, importImage, type TestPodman, testPodman } from "../../server/test/podman.ts";
import { checkOpenPage, openBrowser, openPage, until } from "./browser.ts";
import { type Platform, startPlatform } from "./platform.ts";

const SCRIPT = fileURLToPath(new URL("../../scripts/build/agent-image.mjs", import.meta.url));
const BASE = "localhost/heddle-agent:console";
const DEPLOY_MS = 120_000;

/** Builds an image of a graph that answers with that word, as a user's own pipeline would. */
async function buildImage(podman: TestPodman, name: string, word: string): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), "heddle-context-"));
  for (const [path, text] of Object.entries(graphProject(word))) await writeFile(join(home, path), text);
  await writeFile(join(home, "Dockerfile"), `FROM ${BASE}\nADD . /deps/agent\nWORKDIR /deps/agent\n`);
  await podman.run("build", "--network", "none", "-t", name, home);
  await rm(home, { recursive: true });
}

/** Starts everything here, because hooks declared inside of hooks are not run. */
async function setUp(): Promise<{ platform: Platform; browser: Browser }> {
  const podman = testPodman();
  const archive = join(tmpdir(), `heddle-console-agent-${process.pid}.tar`);
  await promisify(execFile)(process.execPath, [SCRIPT, archive]);
  await podman.start();
  await importImage(podman, archive, BASE, ['CMD ["heddle","serve","--role","agent","--config","langgraph.json"]']);
  await rm(archive);
  for (const word of ["first", "second"]) await buildImage(podman, `localhost/shop:${word}`, word);
  const platform = await startPlatform("up", {
    HEDDLE_CONTAINER_ENGINE: podman.address,
    HEDDLE_CONTAINER_NETWORK: "host",
    HEDDLE_CONTAINER_PULL: "missing",
    HEDDLE_DRAIN_SECONDS: "2",
  });
  const browser = await openBrowser();
  // before the engine is stopped, whose hook was declared first
  atEnd(async () => {
    await browser.close();
    await platform.stop();
  });
  return { platform, browser };
}

const world = hasPodman ? await setUp() : undefined;

describe.skipIf(!world)("an image", () => {
  const { platform, browser } = world ?? ({} as never);

  const readWord = async () => {
    const response = await fetch(`${platform.controlUrl}/d/shop-agent/runs/wait`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ assistant_id: "echo", input: { text: "x" } }),
    });
    const { word, env } = (await response.json()) as Record<string, unknown>;
    return [word, env];
  };

  test("is deployed with its environment, replaced by a newer one, kept when the next is missing, and deleted", async () => {
    const { page, context, errors } = await openPage(browser);
    await page.goto(`${platform.url}/deployments?create=true`);
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("shop-agent");
    await page.getByRole("radiogroup", { name: "Source" }).getByText("Image", { exact: true }).click();
    const deploy = page.getByRole("button", { name: "Deploy", exact: true });
    expect(await deploy.isDisabled()).toBe(true);
    const image = page.getByRole("textbox", { name: "Image" });
    await image.fill("localhost/shop:first");
    await page.getByRole("button", { name: "Add variable" }).click();
    await page.getByLabel("Name of variable 1").fill("GREETING");
    await page.getByLabel("Value of GREETING").fill("hello");
    expect(await checkOpenPage(page, "deployment-form-image", '[placeholder^="registry."]')).toEqual([]);
    await deploy.click();
    await page.getByRole("heading", { name: "shop-agent" }).waitFor();
    await page
      .getByRole("navigation", { name: "Revisions" })
      .getByText("active", { exact: true })
      .waitFor({ timeout: DEPLOY_MS });
    expect(await readWord()).toEqual(["first", "hello"]);
    await page.getByRole("log", { name: "Server log" }).getByText("step two of first").waitFor();

    const next = async (name: string) => {
      await page.getByRole("button", { name: "New revision" }).click();
      await image.fill(name);
      await deploy.click();
    };
    await next("localhost/shop:second");
    await until(async () => (await readWord())[0] === "second", { timeout: DEPLOY_MS, interval: 500 });
    await next("localhost/shop:nowhere");
    await page
      .getByRole("alert")
      .filter({ hasText: /Could not pull/ })
      .waitFor({ timeout: DEPLOY_MS });
    expect(await readWord()).toEqual(["second", "hello"]);

    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByLabel("Type shop-agent to confirm").fill("shop-agent");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.waitForURL(/\/deployments$/);
    await page.getByText("No deployments yet").waitFor({ timeout: 60_000 });
    expect(errors).toEqual([]);
    await context.close();
  }, 400_000);
});
