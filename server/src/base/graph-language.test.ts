import { expect, test } from "vitest";

import { fileOfGraph, languageOf } from "./graph-language.ts";

test.each(["./src/agent.py:graph", "agent.py:make_graph", "my_package.agents.weather:graph", "agent:graph"])(
  "%s is Python",
  (path) => expect(languageOf(path)).toBe("python"),
);

test.each(["./src/agent.ts:graph", "agent.ts:graph", "steps.js", "./agent:graph", "src/agent.mts:default"])(
  "%s is JavaScript",
  (path) => expect(languageOf(path)).toBe("javascript"),
);

test("the file of an export is what precedes the last colon", () => {
  expect(["./a.py:graph", "C:\\a.ts:graph", "pkg.mod:make"].map(fileOfGraph)).toEqual([
    "./a.py",
    "C:\\a.ts",
    "pkg.mod",
  ]);
});
