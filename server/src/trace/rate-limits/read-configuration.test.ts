import { Writable } from "node:stream";

import { pino } from "pino";
import { expect, test } from "vitest";

import { readOptions } from "../../base/config/options.ts";
import { readConfiguration } from "./read-configuration.ts";
import { rateLimitOptions } from "./settings.ts";

function configured(env: Record<string, string>, isDevelopment = false) {
  const lines: string[] = [];
  const log = pino(new Writable({ write: (line, _, done) => (lines.push(String(line)), done()) }));
  const { mode, table, problems } = readConfiguration(readOptions(rateLimitOptions, env), isDevelopment, log);
  const quotas = Object.fromEntries(table.all.map(({ name, count, seconds }) => [name, `${count}/${seconds}`]));
  return { mode, quotas, problems, lines };
}

test("auto is off for development and on elsewhere, and an explicit mode applies", () => {
  expect(configured({}, true).mode).toBe("off");
  expect(configured({}, false).mode).toBe("on");
  expect(configured({ HEDDLE_RATE_LIMITS: "on" }, true).mode).toBe("on");
  expect(configured({ HEDDLE_RATE_LIMITS: "off" }, false).mode).toBe("off");
  expect(configured({ HEDDLE_RATE_LIMITS: "dry-run" }, true).mode).toBe("dry-run");
});

test("the region selects the column", () => {
  expect(configured({}).quotas).toMatchObject({ "commits.key": "10000/60", "runs-stats.key": "1/10" });
  const eu = configured({ HEDDLE_RATE_LIMITS_REGION: "EU" });
  expect(eu.quotas).toMatchObject({ "commits.key": "2000/60", "runs-stats.key": "20/10" });
  expect(eu.problems).toEqual([]);
});

test("overrides change or remove rows, and keep the others", () => {
  const { quotas, problems } = configured({
    HEDDLE_RATE_LIMITS_OVERRIDES: '{"runs-query.key": "100/10", "charts.user": "off"}',
  });
  expect(problems).toEqual([]);
  expect(quotas).toMatchObject({ "runs-query.key": "100/10", "runs-query.user": "300/10" });
  expect(quotas).not.toHaveProperty("charts.user");
});

test.each([
  ["{", "is not valid JSON"],
  ["[]", "must be a JSON object"],
  ["null", "must be a JSON object"],
  ['{"runs-query": "100/10"}', 'unknown row "runs-query"'],
  ['{"options": "100/10", "runs-query.key": "100"}', '"runs-query.key" must be "off" or "count/seconds"'],
  ['{"runs-query.key": "0/10"}', "both at least 1"],
  ['{"runs-query.key": "10/0"}', "both at least 1"],
  ['{"runs-query.key": 10}', "count/seconds"],
  ['{"__proto__": "1/1"}', "unknown row"],
])("invalid overrides (%s) are logged and ignored", (text, message) => {
  const broken = configured({ HEDDLE_RATE_LIMITS_OVERRIDES: text });
  expect(broken.quotas).toEqual(configured({}).quotas);
  expect(broken.mode).toBe("on");
  expect(broken.problems).toHaveLength(1);
  expect(broken.problems[0]).toContain(message);
  expect(JSON.parse(broken.lines[0]!)).toMatchObject({
    level: 50,
    problem: expect.stringContaining(message) as string,
  });
});

test("an unknown mode and region fall back to the default", () => {
  const broken = configured({ HEDDLE_RATE_LIMITS: "onn", HEDDLE_RATE_LIMITS_REGION: "apac" });
  expect(broken.mode).toBe("on");
  expect(broken.quotas["runs-stats.key"]).toBe("1/10");
  expect(broken.problems).toHaveLength(2);
});
