import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { COMMANDS } from "./commands.ts";
import { describeArguments } from "./core/actions.ts";
import { freePort } from "../../server/src/base/free-port.ts";
import { runHeddle } from "../test/run-heddle.ts";

const heddle = (...args: string[]) => runHeddle(args);

test("runs from any directory and prints its version", async () => {
  expect(await heddle("--version")).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
});

test("exits with 2 and a message for an unknown command and an unknown flag", async () => {
  expect(await heddle("weave")).toMatchObject({ code: 2, stderr: expect.stringContaining('Unknown command "weave"') });
  expect(await heddle("dev", "--prot", "1")).toMatchObject({ code: 2, stderr: expect.stringContaining("--prot") });
});

test("lists a command's flags in its help", async () => {
  expect(await heddle("help", "dev")).toMatchObject({ code: 0, stdout: expect.stringContaining("--data-dir DIR") });
  expect(await heddle("dev", "--help")).toMatchObject({ code: 0, stdout: expect.stringContaining("--data-dir DIR") });
});

test("without a langgraph.json, names the directory searched and shows how to write the file", async () => {
  const { code, stderr } = await heddle("dev");
  expect(code).toBe(2);
  expect(stderr).toContain("langgraph.json");
  expect(stderr).toContain('"graphs"');
});

test.each([
  [["logs"], "The name of the deployment is missing: heddle logs NAME"],
  [["logs", "x", "--type", "other"], '--type must be "deploy" or "build"'],
  [["logs", "x", "--limit", "0"], "--limit"],
  [["revisions"], "The name of the deployment is missing: heddle"],
  [
    ["logs", "x", "--revision", "y"],
    '--revision must be the id of a revision, not "y". To list ids: heddle revisions NAME',
  ],
  [["rollback", "x", "--to", "y"], '--to must be the id of a revision, not "y"'],
  [["rollback"], "The name of the deployment is missing: heddle rollback NAME"],
  [["deployments", "delete"], "The name of the deployment is missing: heddle deployments delete NAME"],
  [["deployments", "drop", "x"], 'Unknown action "drop". Actions of heddle deployments: list, show, delete.'],
  [["deployments", "list", "x"], 'Unexpected argument "x".'],
  [["export", "verify"], "The id of the export is missing: heddle export verify ID"],
  [["export", "verify", "x"], 'The id of the export must be a UUID, not "x". To list them: heddle export list'],
  [["holds", "release", "a", "--id", "b"], "heddle holds release takes one ID, not both a and b."],
  [["keys", "list", "--role", "viewer"], "--role is not an option of heddle keys list. See heddle keys --help."],
  [["erase", "--id", "x"], "--id is not an option of heddle erase. See heddle erase --help."],
  [["export", "list", "--url", "nonsense"], '--url must begin with http:// or https://, not "nonsense"'],
  [["export", "create", "--destination", "x"], "heddle export create needs --project"],
  [["deploy", "--nam", "x"], "--nam"],
  [["deploy", "--config", "/nowhere/langgraph.json"], "There is no /nowhere/langgraph.json"],
])("rejects heddle %j with 2 and prints the usage", async (args, message) => {
  expect(await heddle(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
});

const withActions = Object.entries(COMMANDS).flatMap(([noun, { command, help }]) =>
  command ? [[noun, command.actions, help] as const] : [],
);

test("twenty-four commands have actions", () => {
  expect(withActions.map(([noun]) => noun).toSorted()).toEqual(
    "audit blobs checkpoints datasets deployments encryption erase evaluators experiment export feedback holds import keys prices "
      .concat("projects prompts runs secrets skills threads traces users workspaces")
      .split(" "),
  );
});

test.each(withActions)("heddle %s has one text for a missing and an unknown action", async (noun, actions) => {
  const known = `Actions of heddle ${noun}: ${Object.keys(actions).join(", ")}. See heddle ${noun} --help.`;
  const run = COMMANDS[noun]!.run;
  const fails = async (...args: string[]) =>
    run(args).then(
      () => "succeeds",
      (error: Error) => `${error.name}: ${error.message}`,
    );
  for (const word of ["drop", "constructor", "LIST"])
    expect(await fails(word)).toBe(`UsageError: Unknown action "${word}". ${known}`);
  expect(await fails("drop", "more", "words")).toBe(`UsageError: Unknown action "drop". ${known}`);
});

test.each(withActions.filter(([noun]) => noun !== "deployments" && noun !== "erase"))(
  "heddle %s needs an action",
  async (noun, actions) => {
    const known = `Actions of heddle ${noun}: ${Object.keys(actions).join(", ")}. See heddle ${noun} --help.`;
    await expect(COMMANDS[noun]!.run([])).rejects.toThrow(`Missing action. ${known}`);
  },
);

test.each(withActions)("the help of heddle %s and docs/commands.md list its actions", (noun, actions, help) => {
  const page = readFileSync(new URL("../../docs/commands.md", import.meta.url), "utf8");
  for (const [action, spec] of Object.entries(actions)) {
    const { summary } = spec;
    const usage = [action, ...describeArguments(spec)].join(" ");
    const line = help()
      .split("\n")
      .find((line) => line.startsWith(`  ${usage} `));
    expect(line).toContain(` ${summary.split(" ")[0]}`);
    expect(page).toContain(`| \`heddle ${noun} ${usage}\` | ${summary} |`);
  }
});

test("names the URL at which no control plane answers", async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const { code, stderr } = await heddle("deployments", "--url", url);
  expect(code).toBe(1);
  expect(stderr).toContain(`There is no control plane at ${url}. Start one with heddle up`);
  expect(stderr).toContain("ECONNREFUSED");
});

test("names the URL of a server that is not a trace platform", async () => {
  const page = createServer((_, response) => response.end("<!doctype html>")).listen(0, "127.0.0.1");
  await once(page, "listening");
  const url = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
  const { code, stderr } = await heddle("export", "list", "--url", url);
  expect(code).toBe(1);
  expect(stderr).toContain(`The server at ${url}/api/v1 is not a trace platform. Name the trace platform with --url.`);
  page.close();
});

test("the overview and each command's help fit a terminal and hide internal flags", async () => {
  const overview = await heddle("help", "--help");
  expect(overview.code).toBe(0);
  const names = [...overview.stdout.matchAll(/^ {2}heddle ([a-z]+) +[A-Z](?!OMMAND)/gm)].map(([, name]) => name!);
  expect(names).toEqual(expect.arrayContaining(["dev", "deployments", "workspaces", "export"]));
  const columns = new Set(
    [...overview.stdout.matchAll(/^ {2}heddle [a-z]+ +(?=[A-Z])(?!COMMAND)/gm)].map(([text]) => text.length),
  );
  expect(columns.size).toBe(1);
  for (const name of names) {
    const text = COMMANDS[name]!.help();
    expect(text).toContain(`Usage: heddle ${name}`);
    expect(text.split("\n").filter((line) => line.length > 100)).toEqual([]);
    expect(text).not.toContain("--supervised");
  }
});

test("ends without an error when the reader of its output has closed the pipe", async () => {
  const launcher = fileURLToPath(new URL("../bin/heddle.js", import.meta.url));
  const child = spawn(process.execPath, [launcher, "--help"], { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.destroy();
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});
