/** User code that harms its process costs its own run and affects no other. */
import { fileURLToPath } from "node:url";

import { describe, expect, test } from "vitest";

import { testUnrulyGraphs } from "../../../test/unruly-graphs.ts";

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/unruly-project/langgraph.json", import.meta.url));

const harm = testUnrulyGraphs(PROJECT, [
  ["exit", 0, /exited with code 1/],
  ["abort", 0, /SIGABRT/],
  ["heap", 0, /exceeded its memory limit of 300 MB/],
  ["buffers", 0, /exceeded its memory limit of 300 MB/],
  ["block", 60_000, /did not answer for 2 s: run [-0-9a-f]{36} blocked its event loop at .*graphs\./],
]);

describe("an uncaught error outside the run's promises", () => {
  test.each([
    ["throwLater", /thrown outside of any promise/],
    ["rejectLater", /rejected and never awaited/],
  ])("%s ends the run with that error", async (how, message) => {
    const { run } = await harm(how);
    expect(run.status).toBe("error");
    expect(run.error!.message).toMatch(message);
  });
});
