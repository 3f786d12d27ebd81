import { expect, test } from "vitest";
import { describeFlags, readArguments, readFlags, UsageError, type FlagSpec } from "./flags.ts";

const declared = {
  port: { type: "integer", env: ["HEDDLE_AGENT_PORT", "PORT"], default: 2024, max: 65_535, description: "Port." },
  config: { type: "text", placeholder: "FILE", default: "langgraph.json", description: "Project." },
  uri: { type: "text", env: ["DATABASE_URI"], description: "Database." },
  set: { type: "list", placeholder: "NAME=VALUE", description: "May be repeated." },
  reload: { type: "switch", env: ["RELOAD"], default: true, description: "No reload." },
} as const satisfies Record<string, FlagSpec>;

test("a flag takes precedence over its variables, the first variable over the second, and any of them over the default", () => {
  const env = { HEDDLE_AGENT_PORT: "3", PORT: "4" };
  expect(readFlags(declared, ["--port", "2"], env).port).toBe(2);
  expect(readFlags(declared, [], env).port).toBe(3);
  expect(readFlags(declared, [], { PORT: "4" }).port).toBe(4);
  expect(readFlags(declared, [], { PORT: "" })).toEqual({
    port: 2024,
    config: "langgraph.json",
    uri: undefined,
    set: [],
    reload: true,
  });
});

test("reads words before, between and after flags, up to a number that may depend on the first", () => {
  const read = (args: string[], most: Parameters<typeof readArguments>[3]) => readArguments(declared, args, {}, most);
  for (const args of [
    ["a", "b", "--port", "1", "--reload"],
    ["--port", "1", "a", "--reload", "b"],
    ["--reload", "--port=1", "a", "b"],
  ]) {
    expect(read(args, 2)).toMatchObject({ words: ["a", "b"], options: { port: 1, reload: true } });
    expect(() => read(args, 1)).toThrow('Unexpected argument "b".');
    expect(() => read(args, (first) => (first === "a" ? 1 : 2))).toThrow('Unexpected argument "b".');
  }
  expect(read([], 2).words).toEqual([]);
});

test("reads a flag that may be repeated", () => {
  expect(readFlags(declared, ["--set", "a=1", "--set=b=2"], {}).set).toEqual(["a=1", "b=2"]);
  expect(() => readFlags(declared, ["--set"], {})).toThrow("--set");
});

test("reads --name=value and --no-name", () => {
  expect(readFlags(declared, ["--config=a=b.json", "--no-reload"], {})).toMatchObject({
    config: "a=b.json",
    reload: false,
  });
  expect(readFlags(declared, [], { RELOAD: "off" }).reload).toBe(false);
  expect(readFlags(declared, ["--reload"], { RELOAD: "off" }).reload).toBe(true);
});

test.each([
  [["--prot", "1"], "--prot"],
  [["--port", "x"], "--port must be a whole number"],
  [["--port", "70000"], "from 0 to 65535"],
  [["--port", "1e3"], "--port"],
  [["--port"], "--port"],
  [["--config="], "--config needs a value"],
  [["--no-port"], "--no-port"],
  [["stray"], "stray"],
])("rejects %j", (args, message) => {
  expect(() => readFlags(declared, args, {})).toThrow(UsageError);
  expect(() => readFlags(declared, args, {})).toThrow(message);
});

test("names a variable with an invalid value", () => {
  expect(() => readFlags(declared, [], { PORT: "http" })).toThrow(/^PORT must be/);
});

test("lists every flag, its default and its variables in the help text", () => {
  const help = describeFlags(declared);
  for (const part of ["--port", "default 2024", "HEDDLE_AGENT_PORT, PORT", "--config FILE", "--no-reload"]) {
    expect(help).toContain(part);
  }
});
