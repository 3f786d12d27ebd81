import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { serve } from "@hono/node-server";
import { afterAll, afterEach, expect, test, vi } from "vitest";

import { createTraceApp } from "../../../../server/src/trace-app.ts";
import { openGuard } from "../../../../server/test/principal.ts";
import { testTracePlatform } from "../../../../server/test/trace-platform.ts";
import { UsageError } from "../../core/flags.ts";
import { run } from "../prompts.ts";

const { call, platform } = await testTracePlatform();
const server = serve({ fetch: createTraceApp(platform.deps, openGuard).fetch, port: 0, hostname: "127.0.0.1" });
await new Promise((resolve) => server.once("listening", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const root = mkdtempSync(join(tmpdir(), "heddle-prompts-"));
afterAll(async () => {
  rmSync(root, { recursive: true, force: true });
  await new Promise((resolve) => server.close(resolve));
});
afterEach(() => {
  process.exitCode = undefined;
});

/** Bytes that parsing and serializing would change. */
const manifest = (text: string) =>
  `{ "lc":1, "type":"constructor","id":["langchain_core","prompts","prompt","PromptTemplate"],
  "kwargs":{"template":"${text} \\u00e4 {name}","input_variables":["name"],"partial":1.0}}`;

const newDirectory = () => mkdtempSync(join(root, "d-"));

async function prompts(directory: string, ...args: string[]): Promise<{ output: string; code: number }> {
  const printed: string[] = [];
  const writing = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => printed.push(String(chunk)) > 0);
  const errors = vi.spyOn(console, "error").mockImplementation((text) => void printed.push(String(text)));
  try {
    await run([...args, "--dir", directory, "--url", url]);
    return { output: printed.join(""), code: Number(process.exitCode ?? 0) };
  } finally {
    writing.mockRestore();
    errors.mockRestore();
    process.exitCode = undefined;
  }
}

const commit = async (name: string, text: string) => {
  const parent = (await call("GET", `/repos/-/${name}`)).json.repo.last_commit_hash;
  const { json } = await call("POST", `/commits/-/${name}`, { parent_commit: parent, manifest: JSON.parse(text) });
  return json.commit.commit_hash as string;
};

test("pushes a new prompt with README, message and tag, and pulls it elsewhere byte for byte", async () => {
  const directory = newDirectory();
  writeFileSync(join(directory, "greeting.json"), `${manifest("Hello")}\n`);
  writeFileSync(join(directory, "greeting.md"), "# Greeting\n");
  const dry = await prompts(directory, "push", "--dry-run", "--tag", "staging");
  expect(dry.output).toBe("greeting  would be committed, would be tagged staging\n");
  expect((await call("GET", "/repos/-/greeting")).status).toBe(404);

  const pushed = await prompts(directory, "push", "--tag", "staging", "--message", "First version");
  expect(pushed.output).toMatch(/^greeting {2}[0-9a-f]{8} {2}committed, tagged staging\n$/);
  const { json } = await call("GET", "/repos/-/greeting");
  expect(json.repo).toMatchObject({ readme: "# Greeting", num_commits: 1, commit_tags: ["staging"], is_public: false });
  const listed = await call("GET", "/commits/-/greeting");
  expect(listed.json.commits[0].description).toBe("First version");
  expect((await call("GET", "/commits/-/greeting/latest")).text).toContain(manifest("Hello"));

  const again = await prompts(directory, "push", "--tag", "production");
  expect(again.output).toContain("is up to date, tagged production");
  expect((await call("GET", "/repos/-/greeting")).json.repo).toMatchObject({
    num_commits: 1,
    commit_tags: ["production", "staging"],
  });

  const elsewhere = newDirectory();
  await prompts(elsewhere, "pull", "greeting");
  expect(readdirSync(elsewhere).toSorted()).toEqual(["greeting.json", "greeting.md", "heddle-prompts.lock.json"]);
  for (const file of readdirSync(elsewhere)) {
    expect(readFileSync(join(elsewhere, file), "utf8")).toBe(readFileSync(join(directory, file), "utf8"));
  }
});

test("a push on top of a newer commit is rejected with the differences, until it is pulled or forced", async () => {
  const directory = newDirectory();
  const file = join(directory, "shared.json");
  writeFileSync(file, manifest("one"));
  await prompts(directory, "push");
  const newer = await commit("shared", manifest("two"));
  writeFileSync(file, manifest("three"));
  const rejected = prompts(directory, "push");
  await expect(rejected).rejects.toThrow(`shared has the commit ${newer.slice(0, 8)}`);
  await expect(rejected).rejects.toThrow(/-\s+template: two ä \{name\}\n\+\s+template: three ä \{name\}/);
  await expect(prompts(directory, "push", "--dry-run")).rejects.toThrow(newer.slice(0, 8));
  expect((await call("GET", "/repos/-/shared")).json.repo.last_commit_hash).toBe(newer);

  await expect(prompts(directory, "pull", "shared")).rejects.toThrow("has changes that are not pushed");
  expect(readFileSync(file, "utf8")).toBe(manifest("three"));
  await prompts(directory, "push", "--force");
  expect((await call("GET", "/repos/-/shared")).json.repo.num_commits).toBe(3);
  await prompts(directory, "push", "--tag", "live");
  await commit("shared", manifest("four"));
  await prompts(directory, "pull");
  expect(JSON.parse(readFileSync(file, "utf8")).kwargs.template).toBe("four ä {name}");
  // a tag that exists is moved
  await prompts(directory, "push", "--tag", "live");
  expect((await call("GET", "/commits/-/shared/live")).json.manifest.kwargs.template).toBe("four ä {name}");
});

test("diff exits with 1 for differences, 0 without, 2 on an error", async () => {
  const directory = newDirectory();
  const file = join(directory, "compared.json");
  writeFileSync(file, manifest("old"));
  await prompts(directory, "push", "--tag", "production");
  expect(await prompts(directory, "diff")).toEqual({ output: "", code: 0 });
  // formatting is not a difference
  writeFileSync(file, JSON.stringify(JSON.parse(manifest("old")), null, 4));
  expect(await prompts(directory, "diff")).toEqual({ output: "", code: 0 });
  writeFileSync(file, manifest("new"));
  const { output, code } = await prompts(directory, "diff", "compared:production");
  expect(code).toBe(1);
  expect(output).toMatch(/^--- compared:[0-9a-f]{8}\n\+\+\+ .*compared\.json\n@@/);
  expect(output).toMatch(/-\s+template: old.*\n\+\s+template: new/);
  expect((await prompts(directory, "diff", "--tag", "absent")).code).toBe(2);
  expect((await prompts(newDirectory(), "diff", "absent")).code).toBe(2);
});

test("a prompt as YAML is pushed and pulled with the same content", async () => {
  const directory = newDirectory();
  await call("POST", "/repos", { repo_handle: "as-yaml", is_public: false });
  await commit("as-yaml", manifest("line one\\nline two"));
  await prompts(directory, "pull", "as-yaml", "--format", "yaml");
  const file = join(directory, "as-yaml.yaml");
  const text = readFileSync(file, "utf8");
  expect(text).toContain("    line one\n    line two ä {name}");
  expect((await prompts(directory, "push")).output).toContain("is up to date");
  writeFileSync(file, text.replace("line two", "line 2"));
  await prompts(directory, "push");
  const { json } = await call("GET", "/commits/-/as-yaml/latest");
  expect(json.manifest.kwargs.template).toBe("line one\nline 2 ä {name}");
});

test("pulls all prompts of the workspace, and leaves out archived ones and those without a commit", async () => {
  await call("POST", "/repos", { repo_handle: "empty", is_public: false });
  await call("POST", "/repos", { repo_handle: "archived", is_public: false });
  await call("PATCH", "/repos/-/archived", { is_archived: true });
  const directory = newDirectory();
  const { output } = await prompts(directory, "pull", "--all");
  expect(output).toContain("empty  has no commit yet");
  expect(output).not.toContain("archived");
  expect(readdirSync(directory)).toContain("greeting.json");
  expect(readdirSync(directory)).not.toContain("empty.json");
});

test("explains wrong calls and wrong files", async () => {
  const directory = newDirectory();
  const wrong = (...args: string[]) => prompts(directory, ...args);
  await expect(wrong("pull")).rejects.toThrow("There are no prompts in");
  await expect(wrong("pull", "absent")).rejects.toThrow('There is no prompt "absent" in the workspace.');
  await expect(wrong("pull", "../x")).rejects.toThrow(UsageError);
  await expect(wrong("pull", "x", "--format", "toml")).rejects.toThrow("--format must be json or yaml");
  await expect(wrong("diff", "x", "--message", "y")).rejects.toThrow("not an option of heddle prompts diff");
  await expect(wrong("push", "greeting:production")).rejects.toThrow("A push has no version");
  writeFileSync(join(directory, "broken.json"), "{");
  await expect(wrong("push")).rejects.toThrow(/broken\.json is not valid JSON/);
  writeFileSync(join(directory, "broken.json"), "[]");
  await expect(wrong("push")).rejects.toThrow("does not contain a manifest");
  writeFileSync(join(directory, "broken.yaml"), "a: 1");
  await expect(wrong("push")).rejects.toThrow("Delete all but one");
});
