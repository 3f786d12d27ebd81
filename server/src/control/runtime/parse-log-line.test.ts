import { expect, test } from "vitest";

import { parseLogLine } from "./parse-log-line.ts";

const now = new Date("2026-01-02T03:04:05.678Z");

test("keeps the level, time and other fields of an agent server's line", () => {
  const line = {
    level: 50,
    time: "2026-01-01T00:00:00.000Z",
    run_id: "r",
    err: { message: "no" },
    msg: "a run failed",
  };
  expect(parseLogLine(JSON.stringify(line), now)).toEqual({
    at: new Date("2026-01-01T00:00:00.000Z"),
    level: "ERROR",
    message: 'a run failed: no {"run_id":"r"}',
  });
});

test.each([
  [10, "DEBUG"],
  [20, "DEBUG"],
  [30, "INFO"],
  [40, "WARNING"],
  [50, "ERROR"],
  [60, "CRITICAL"],
])("reads level %i as %s", (level, expected) => {
  expect(parseLogLine(JSON.stringify({ level, msg: "x" }), now)).toMatchObject({ level: expected, at: now });
});

test.each([
  ["step one", "INFO"],
  ["TypeError: x is not a function", "ERROR"],
  ["Uncaught Error: no", "ERROR"],
  ["request failed with error: 500", "ERROR"],
  ["errors were few", "INFO"],
  ["(node:1) Warning: deprecated", "WARNING"],
  ["FATAL ERROR: heap out of memory", "CRITICAL"],
  ["debug: a detail", "DEBUG"],
  ['{"level":50', "INFO"],
])("classifies %j in a graph's output as %s", (text, level) => {
  expect(parseLogLine(text, now)).toEqual({ at: now, level, message: text });
});

test("removes keys and terminal escape sequences from a line", () => {
  expect(parseLogLine("\u001b[31mred\u001b[0m", now)!.message).toBe("red");
  const key = `lsv2_sk_${"ab".repeat(20)}_${"cd".repeat(5)}`;
  expect(parseLogLine(`x-api-key: ${key}`, now)!.message).not.toContain(key);
  expect(parseLogLine("   ", now)).toBeNull();
});

test("a line keeps its own time only if Postgres stores it", () => {
  const at = (time: unknown) => parseLogLine(JSON.stringify({ level: 30, time, msg: "x" }), now)!.at;
  expect(at("2025-05-06T07:08:09Z")).toEqual(new Date("2025-05-06T07:08:09Z"));
  const others = ["+275760-09-13T00:00:00.000Z", "0000-01-01T00:00:00Z", "-000001-01-01T00:00:00Z"];
  const beyond = ["9999-12-31T23:59:59-12:00", "1969-12-31T00:00:00Z", "soon", "", 5, {}, [], true];
  for (const time of [...others, ...beyond]) expect([time, at(time)]).toEqual([time, now]);
});
