import { expect, test } from "vitest";

import { ConfigError } from "./config/options.ts";
import { logTo } from "./log.ts";

const logged = (level: string, error: Error): { type: string; message: string; stack?: string } => {
  const lines: string[] = [];
  logTo(level, { write: (line) => void lines.push(line) }).error({ err: error }, "failed");
  return (JSON.parse(lines[0]!) as { err: { type: string; message: string; stack?: string } }).err;
};

test("an error in the configuration is logged without our stack, unless the level is debug", () => {
  const error = new ConfigError("store.index.embed: no export");
  expect(logged("info", error)).toEqual({ type: "ConfigError", message: "store.index.embed: no export" });
  expect(logged("debug", error).stack).toContain("log.test.ts");
  expect(logged("info", new Error("a bug")).stack).toContain("log.test.ts");
});
