import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { UsageError } from "./flags.ts";
import { projectEnvironment, withVariables } from "./project-environment.ts";

test.each([
  { env: undefined, found: { IN_FILE: "file", SECRET: "unnamed" } },
  { env: ".env", found: { IN_FILE: "file", SECRET: "unnamed" } },
  { env: { A: 1, B: "" }, found: { A: "1" } },
  { env: ["IN_FILE", "IN_SHELL", "MISSING"], found: { IN_FILE: "file", IN_SHELL: "shell" } },
  { env: [], found: {} },
])("with env $env a project has the variables $found", ({ env, found }) => {
  const directory = mkdtempSync(join(tmpdir(), "heddle-environment-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, ".env"), "IN_FILE=file\nSECRET=unnamed\nEMPTY=\n");
  writeFileSync(join(directory, "langgraph.json"), JSON.stringify({ graphs: {}, env }));
  expect(projectEnvironment(join(directory, "langgraph.json"), { IN_SHELL: "shell", OTHER: "x" })).toEqual(found);
});

test("NAME=VALUE sets, NAME takes the caller's value, and NAME= removes", () => {
  const before = { A: "1", B: "2", C: "3" };
  expect(withVariables(before, ["A=x=y", "B=", "D", "E=5"], { D: "here" })).toEqual({
    A: "x=y",
    C: "3",
    D: "here",
    E: "5",
  });
});

test.each([["=1"], ["1A=1"], ["A B=1"], [""], ["MISSING"]])("rejects --env %j", (text) => {
  expect(() => withVariables({}, [text], {})).toThrow(UsageError);
});
