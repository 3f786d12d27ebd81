import { parse } from "dotenv";
import { expect, test } from "vitest";

import { readEnv } from "./read-env.ts";

const KEY = "-----BEGIN PRIVATE KEY-----\nMIIE+/=\n-----END PRIVATE KEY-----";
const FILE = [
  "# a comment",
  "PLAIN=value",
  "export EXPORTED = spaced out  ",
  "COMMENTED=value # not the value",
  'QUOTED="with # inside" # not the value',
  "SINGLE='it is \\n literal'",
  'ESCAPED="two\\nlines"',
  `KEY="${KEY}"`,
  "URL=https://example.com/?a=b&c=d",
  "EMPTY=",
  "BACKTICKS=`a \"b\" 'c'`",
  "COLON: yes",
  "TWICE=1",
  "TWICE=2",
  "not a line",
].join("\n");

test.each(["\n", "\r\n"])("reads a pasted file as the server and heddle deploy read it (%j)", (end) => {
  const text = FILE.replaceAll("\n", end);
  const variables = readEnv(text);
  expect(Object.fromEntries(variables.map(({ name, value }) => [name, value]))).toEqual(parse(text));
  expect(variables.filter(({ name }) => name === "TWICE")).toEqual([{ name: "TWICE", value: "2" }]);
  expect(variables).toEqual(
    expect.arrayContaining([
      { name: "COMMENTED", value: "value" },
      { name: "KEY", value: KEY },
    ]),
  );
});
