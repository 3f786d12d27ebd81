import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { freePort } from "../../server/src/base/free-port.ts";

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
  [["logs", "x", "--revision", "y"], '--revision is the id of a revision, not "y". heddle revisions NAME tells ids.'],
  [["rollback", "x", "--to", "y"], '--to is the id of a revision, not "y"'],
  [["rollback"], "Which deployment? heddle rollback NAME"],
  [["deployments", "delete"], "Which one? heddle deployments delete NAME"],
  [["deployments", "drop", "x"], 'There is no action "drop"'],
  [["export", "verify"], "Which one? heddle export verify ID"],
  [["export", "verify", "x"], '"x" is no id of an export. heddle export list tells ids.'],
  [["export"], "What to do: destinations, create"],
  [["export", "list", "--url", "nonsense"], '--url must begin with http:// or https://, not "nonsense"'],
  [["export", "create", "--destination", "x"], "heddle export create needs --project"],
  [["deploy", "--nam", "x"], "--nam"],
  [["deploy", "--config", "/nowhere/langgraph.json"], "There is no /nowhere/langgraph.json"],
])("heddle %j is refused with 2, and says how it is written", async (args, said) => {
  expect(await heddle(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(said) });
});

test("commands that speak to a control plane say where they looked for it", async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const { code, stderr } = await heddle("deployments", "--url", url);
  expect(code).toBe(1);
  expect(stderr).toContain(`There is no control plane at ${url}. Start one with heddle up`);
  expect(stderr).toContain("ECONNREFUSED");
});

test("a server that is no trace platform is told to be none", async () => {
  const page = createServer((_, response) => response.end("<!doctype html>")).listen(0, "127.0.0.1");
  await once(page, "listening");
  const url = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
  const { code, stderr } = await heddle("export", "list", "--url", url);
  expect(code).toBe(1);
  expect(stderr).toContain(`What answers at ${url}/api/v1 is no trace platform. Name it with --url.`);
  page.close();
});

test("the overview and each command's help fit a terminal, and say nothing of flags that are ours alone", async () => {
  const overview = await heddle("help", "--help");
  expect(overview.code).toBe(0);
  const names = [...overview.stdout.matchAll(/^ {2}heddle ([a-z]+) +[A-Z](?!OMMAND)/gm)].map(([, name]) => name!);
  expect(names).toEqual(expect.arrayContaining(["dev", "deployments", "workspaces", "export"]));
  const columns = new Set(
    [...overview.stdout.matchAll(/^ {2}heddle [a-z]+ +(?=[A-Z])(?!COMMAND)/gm)].map(([text]) => text.length),
  );
  expect(columns.size).toBe(1);
  for (const name of names) {
    const { stdout } = await heddle(name, "--help");
    expect(stdout).toContain(`Usage: heddle ${name}`);
    expect(stdout.split("\n").filter((line) => line.length > 100)).toEqual([]);
    expect(stdout).not.toContain("--supervised");
  }
});
