/** Each line of docs/differences.md names a test that exists. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Rows of the tables, without their heads. */
const rows = readFileSync(join(ROOT, "docs/differences.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !/\| Case +\|$/.test(line) && !/^\| ?:?-+/.test(line))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));

test.each(rows.map((cells) => [cells[1]!, cells.at(-2)!]))("%s", (_, named) => {
  const [, file, title] = /^`([^`]+)`(?:: (.+))?$/.exec(named) ?? [];
  expect(file, `"${named}" names no test`).toMatch(/\.test\.tsx?$|\/test_\w+\.py$/);
  expect(existsSync(join(ROOT, file!)), `${file} does not exist`).toBe(true);
  if (title === undefined) return;
  const plain = (text: string) => text.replaceAll(/[`\\]/g, "");
  expect(plain(readFileSync(join(ROOT, file!), "utf8"))).toContain(plain(title));
});

test("there are lines", () => expect(rows.length).toBeGreaterThan(20));
