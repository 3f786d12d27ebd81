import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const LAUNCHER = fileURLToPath(new URL("../bin/heddle.js", import.meta.url));

function heddle(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [LAUNCHER, ...args], { cwd: tmpdir() }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

test("heddle works from any directory and tells its version", async () => {
  expect(await heddle("--version")).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
});

test("an unknown command and an unknown flag end with 2 and say so", async () => {
  expect(await heddle("weave")).toMatchObject({ code: 2, stderr: expect.stringContaining('no command "weave"') });
  expect(await heddle("dev", "--prot", "1")).toMatchObject({ code: 2, stderr: expect.stringContaining("--prot") });
});

test("help of a command lists its flags", async () => {
  expect(await heddle("help", "dev")).toMatchObject({ code: 0, stdout: expect.stringContaining("--data-dir DIR") });
  expect(await heddle("dev", "--help")).toMatchObject({ code: 0, stdout: expect.stringContaining("--data-dir DIR") });
});

test("without a langgraph.json it says where it looked and how to write one", async () => {
  const { code, stderr } = await heddle("dev");
  expect(code).toBe(2);
  expect(stderr).toContain("langgraph.json");
  expect(stderr).toContain('"graphs"');
});

test.each([
  [["logs"], "Of which deployment? heddle logs NAME"],
  [["logs", "x", "--type", "other"], '--type is "deploy" or "build"'],
  [["logs", "x", "--limit", "0"], "--limit"],
  [["revisions"], "Of which deployment?"],
  [["rollback"], "Which deployment? heddle rollback NAME"],
  [["deployments", "delete"], "Which one? heddle deployments delete NAME"],
  [["deployments", "drop", "x"], 'There is no action "drop"'],
  [["export", "verify"], "Which one? heddle export verify ID"],
  [["export", "create", "--destination", "x"], "heddle export create needs --project"],
  [["deploy", "--nam", "x"], "--nam"],
  [["deploy", "--config", "/nowhere/langgraph.json"], "There is no /nowhere/langgraph.json"],
])("heddle %j is refused with 2, and says how it is written", async (args, said) => {
  expect(await heddle(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(said) });
});

test("commands that speak to a control plane say where they looked for it", async () => {
  const { code, stderr } = await heddle("deployments", "--url", "http://127.0.0.1:9");
  expect(code).toBe(1);
  expect(stderr).toContain("There is no control plane at http://127.0.0.1:9. Start one with heddle up");
});
