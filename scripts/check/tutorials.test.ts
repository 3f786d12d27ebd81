import { expect, test } from "vitest";

import { missingLine, readBlocks, readNeeds } from "./tutorials.ts";

test("blocks are read with their language, options and line", () => {
  const markdown = "text\n```ts file=src/a.ts\nconst a = 1;\n```\n\n```sh terminal=server stop\n```\n";
  expect(readBlocks(markdown)).toEqual([
    { language: "ts", info: { file: "src/a.ts" }, text: "const a = 1;\n", line: 2 },
    { language: "sh", info: { terminal: "server", stop: "true" }, text: "", line: 6 },
  ]);
});

test("expected lines follow in their order, with gaps", () => {
  const output = "Created /tmp/x/bot.\n  1 passed (2)\n";
  expect(missingLine("Created …bot.\n1 passed\n", output)).toBeUndefined();
  expect(missingLine("1 passed\nCreated\n", output)).toBe("Created");
  expect(missingLine("Created …passed\n", output)).toBe("Created …passed");
});

test("only the tutorial that needs a cluster is left to the tests of clusters", () => {
  const needs = (name: string) => readNeeds(new URL(`../../docs/tutorials/${name}.md`, import.meta.url).pathname);
  expect(needs("kubernetes")).toBe("cluster");
  expect(["support-bot", "support-bot-python", "evaluate", "move"].map(needs)).toEqual(Array(4).fill(undefined));
});
