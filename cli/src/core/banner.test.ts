import { expect, test } from "vitest";

import { banner, type BannerInput, describeReload } from "./banner.ts";

const input: BannerInput = {
  url: "http://127.0.0.1:1",
  version: "1.0.0",
  config: "/p/langgraph.json",
  dataDir: "/p/.heddle",
  database: "embedded",
  graphs: { agent: { ok: true } },
  traces: undefined,
  console: undefined,
  keysNeeded: false,
  access: "Programs on this machine need no key; other machines cannot connect.",
  hasOwnAuth: false,
  firstKey: "lsv2_sk_1",
};

test("states whether requests need a key, and refers to the project's own auth where it has one", async () => {
  const open = await banner(input);
  expect(open).toContain("Requests from this machine do not need it.");
  expect(open).toContain("A first request:");
  const guarded = await banner({ ...input, keysNeeded: true });
  expect(guarded).toContain("Send it with requests as x-api-key.");
  expect(guarded).toContain("-H 'x-api-key: lsv2_sk_1'");
  for (const keysNeeded of [false, true]) {
    const own = await banner({ ...input, keysNeeded, hasOwnAuth: true });
    expect(own).not.toContain("do not need it");
    expect(own).not.toContain("-H 'x-api-key");
    expect(own).toContain("the project's own auth authorizes callers of the API");
    expect(own).toContain("A first request; add the credentials that the project's own auth requires:");
  }
});

test("names the parts of a graph that are not used, in one line each", () => {
  const graphs = {
    agent: { ok: true, notes: ["its own checkpointer (PostgresSaver) is not used."] },
    two: { ok: true },
  };
  expect(describeReload(graphs)).toBe(
    'Graphs reloaded.\n  Graphs    agent, two\n  Graph "agent": its own checkpointer (PostgresSaver) is not used.\n',
  );
});

test("names an error that prevents several graphs once, and says what happens next", async () => {
  const failed = { ok: false, error: "langgraph 0.2.11 is not supported.\nRun: npm install" };
  const text = await banner({ ...input, graphs: { one: failed, two: failed, three: { ok: false, error: "other" } } });
  expect(text).toContain(
    '  Graphs "one", "two" do not load:\n    langgraph 0.2.11 is not supported.\n    Run: npm install',
  );
  expect(text.match(/0\.2\.11/g)).toHaveLength(1);
  expect(text).toContain('  Graph "three" does not load:\n    other');
  expect(text).toContain("The project is loaded again when its files change.");
  expect(describeReload({ one: failed })).toMatch(
    /^The project does not load\. It is tried again when its files change\./,
  );
  expect(describeReload({ one: failed, two: { ok: true } })).toMatch(/^Graphs reloaded\.\n {2}Graphs +two\n/);
});
