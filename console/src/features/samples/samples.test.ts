import { expect, test } from "vitest";

import {
  datasetSamples,
  deploySamples,
  experimentSamples,
  promptSamples,
  pullSamples,
  runSamples,
  tracingSamples,
} from "./samples.ts";

const open = { url: "http://127.0.0.1:3000/api/trace", key: null };
const closed = { ...open, key: "<your API key>" };

test("samples contain the address and, if a key is required, its placeholder, in Python and TypeScript", () => {
  for (const make of [
    (access: typeof open | typeof closed) => tracingSamples(access, "shop"),
    (access: typeof open | typeof closed) => runSamples(access, "agent"),
    (access: typeof open | typeof closed) => datasetSamples(access, "orders"),
    (access: typeof open | typeof closed) => experimentSamples(access, "orders"),
  ]) {
    expect(make(open).map(({ language }) => language)).toEqual(["Python", "TypeScript"]);
    for (const { code } of make(open)) {
      expect(code).toContain(open.url);
      expect(code).not.toContain("<your API key>");
    }
    for (const { code } of make(closed)) expect(code).toContain("<your API key>");
  }
});

test("names with quotes stay one word of the shell and one string of the languages", () => {
  expect(tracingSamples(open, 'a "b"')[0]!.code).toContain('LANGSMITH_PROJECT="a \\"b\\""');
  expect(runSamples(open, 'a"b')[1]!.code).toContain('"a\\"b"');
  // the shell would read < and > as redirections
  expect(deploySamples(closed)[0]!.code).toContain("LANGSMITH_API_KEY='<your API key>'");
});

test("samples for prompts name the prompt and its version, also for the command", () => {
  const languages = ["Python", "TypeScript", "Shell"];
  expect(promptSamples(closed, "support").map(({ language }) => language)).toEqual(languages);
  expect(pullSamples(closed, "acme/support", "production").map(({ language }) => language)).toEqual(languages);
  for (const { code } of promptSamples(closed, "support")) expect(code).toContain("support");
  for (const { code } of pullSamples(closed, "acme/support", "production")) {
    expect(code).toContain("acme/support:production");
    expect(code).toContain("<your API key>");
  }
  expect(pullSamples(open, "support", "v1")[2]!.code).toBe(`npx heddle prompts pull support:v1 --url ${open.url}`);
});
