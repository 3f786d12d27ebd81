import type { AddressInfo } from "node:net";

import { serve } from "@hono/node-server";
import { afterAll, afterEach, expect, test, vi } from "vitest";

import { createTraceApp } from "../../../server/src/trace-app.ts";
import { testDatabase } from "../../../server/test/db.ts";
import { testGuard, testTenants } from "../../../server/test/identity.ts";
import { testTracePlatform } from "../../../server/test/trace-platform.ts";
import { run } from "./import.ts";

const db = await testDatabase();
const tenants = await testTenants(db);
const guard = await testGuard(db);
const { call: send, platform } = await testTracePlatform({}, { db, guard });
const server = serve({ fetch: createTraceApp(platform.deps, guard).fetch, port: 0, hostname: "127.0.0.1" });
await new Promise((resolve) => server.once("listening", resolve));
afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const inWorkspace = (key: string) => ({
  key,
  call: (method: string, path: string, body?: unknown) => send(method, path, body, { "x-api-key": key }),
});
const source = inWorkspace(tenants.a.admin);
const target = inWorkspace(tenants.b.admin);
afterEach(() => {
  process.exitCode = undefined;
});

async function importPrompts(...args: string[]): Promise<{ output: string; code: number }> {
  const printed: string[] = [];
  const writing = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => printed.push(String(chunk)) > 0);
  const errors = vi.spyOn(console, "error").mockImplementation((text) => void printed.push(String(text)));
  try {
    await run(["prompts", ...args, "--from", url, "--from-key", source.key, "--url", url, "--api-key", target.key]);
    return { output: printed.join("\n"), code: Number(process.exitCode ?? 0) };
  } finally {
    writing.mockRestore();
    errors.mockRestore();
  }
}

const manifest = (template: string) => ({
  lc: 1,
  type: "constructor",
  id: ["langchain_core", "prompts", "prompt", "PromptTemplate"],
  kwargs: { template, input_variables: [], partial: 1.5 },
});

type Platform = typeof source;

async function commit({ call }: Platform, name: string, template: string, description?: string): Promise<string> {
  const parent_commit = (await call("GET", `/repos/-/${name}`)).json.repo.last_commit_hash;
  const body = { parent_commit, manifest: manifest(template), description };
  const { status, json, text } = await call("POST", `/commits/-/${name}`, body);
  if (status >= 300) throw new Error(text);
  return json.commit.id;
}

const history = async ({ call }: Platform, name: string) => {
  const { json } = await call("GET", `/commits/-/${name}?limit=100`);
  const commits = json.commits as { commit_hash: string; description: string | null }[];
  return Promise.all(
    commits.map(async ({ commit_hash: hash, description }) => {
      const { json: pulled } = await call("GET", `/commits/-/${name}/${hash}`);
      return [hash, pulled.manifest.kwargs.template, description];
    }),
  );
};

test("copies prompts with all commits and tags, and continues where an earlier copy ended", async () => {
  await source.call("POST", "/repos", {
    repo_handle: "greeting",
    is_public: false,
    description: "Greets",
    readme: "# Greeting",
    tags: ["chat"],
  });
  await commit(source, "greeting", "one");
  const second = await commit(source, "greeting", "two", "better");
  await source.call("POST", "/repos/-/greeting/tags", { tag_name: "production", commit_id: second });

  const dry = await importPrompts("--dry-run");
  expect(dry.output).toContain("greeting  new, 2 of 2 commits to copy");
  expect((await target.call("GET", "/repos/-/greeting")).status).toBe(404);

  expect(await importPrompts()).toMatchObject({ code: 0 });
  const { repo } = (await target.call("GET", "/repos/-/greeting")).json;
  expect(repo).toMatchObject({ description: "Greets", readme: "# Greeting", tags: ["chat"], num_commits: 2 });
  // content-addressed: the same hashes
  expect(await history(target, "greeting")).toEqual(await history(source, "greeting"));
  const tagged = await target.call("GET", "/commits/-/greeting/production");
  expect(tagged.json.manifest.kwargs.template).toBe("two");

  const third = await commit(source, "greeting", "three");
  await source.call("PATCH", "/repos/-/greeting/tags/production", { commit_id: third });
  const again = await importPrompts("greeting");
  expect(again.output).toContain("greeting  1 of 3 commits to copy");
  expect(again.output).toContain("1 prompts with 1 new commits and 1 tags copied.");
  expect(await history(target, "greeting")).toEqual(await history(source, "greeting"));
  expect((await target.call("GET", "/commits/-/greeting/production")).json.manifest.kwargs.template).toBe("three");
});

test("leaves a prompt that the target has changed, and says so", async () => {
  await source.call("POST", "/repos", { repo_handle: "changed", is_public: false });
  await commit(source, "changed", "one");
  await importPrompts("changed");
  await commit(target, "changed", "own");
  await commit(source, "changed", "two");
  const { output, code } = await importPrompts("changed");
  expect(code).toBe(1);
  expect(output).toContain("changed: the target has commits that the source does not have; nothing was changed");
  expect((await history(target, "changed")).map(([, template]) => template)).toEqual(["own", "one"]);
  const missing = await importPrompts("nothing-like-it");
  expect(missing).toMatchObject({ code: 1 });
  expect(missing.output).toContain("nothing-like-it: the source has no such prompt");
});

test("copies the files of skills and agents commit by commit", async () => {
  const path = "/v1/platform/hub/repos/-/notes/directories";
  await source.call("POST", "/repos", { repo_handle: "notes", is_public: false, repo_type: "skill" });
  const write = async (files: object, parent_commit?: string) => {
    const { json, status, text } = await source.call("POST", `${path}/commits`, { files, parent_commit });
    if (status >= 300) throw new Error(text);
    return json.commit.commit_hash as string;
  };
  const first = await write({ "SKILL.md": { type: "file", content: "a" }, "old.md": { type: "file", content: "b" } });
  await write({ "SKILL.md": { type: "file", content: "c" }, "old.md": null }, first);
  expect(await importPrompts("notes")).toMatchObject({ code: 0 });
  const { files } = (await target.call("GET", path)).json;
  expect(files).toEqual({ "SKILL.md": { type: "file", content: "c" } });
  expect((await target.call("GET", "/commits/-/notes")).json.total).toBe(2);
  expect((await importPrompts("notes")).output).toContain("0 of 2 commits to copy");
});
