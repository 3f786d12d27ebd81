/** Each rule of the service interface has a test: conformance/service-rules.md names it. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const rows = readFileSync(`${repository}conformance/service-rules.md`, "utf8")
  .split("\n")
  .filter((line) => /^\| \d/.test(line))
  .map(
    (line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()) as [string, string, string, string],
  );

/** Lines of a file that contain a text, without those of tests that are skipped. */
const linesWith = (file: string, text: string): string[] =>
  readFileSync(`${repository}${file}`, "utf8")
    .split("\n")
    .filter((line) => line.includes(text) && !/\b(?:test|it|describe)\.(?:skip|todo)\b/.test(line));

test("every section of the service interface has rules", () => {
  const sections = new Set(rows.map(([section]) => section.split(/[ .]/)[0]));
  expect([...sections]).toEqual(["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
  expect(rows.filter(([section]) => section.startsWith("4.4 rule")).map(([section]) => section.at(-1))).toEqual(
    expect.arrayContaining(["1", "2", "3", "4", "5", "6", "7"]),
  );
});

test("every rule names a test that exists", () => {
  const missing = rows.filter(
    ([, rule, file, title]) =>
      rule === "" || title === "" || !existsSync(`${repository}${file}`) || linesWith(file, title).length === 0,
  );
  expect(missing).toEqual([]);
});
