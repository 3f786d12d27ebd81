/** Python code that harms its process costs its own run and affects no other. */
import { fileURLToPath } from "node:url";

import { testUnrulyGraphs } from "../../../test/unruly-graphs.ts";

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/unruly-python/langgraph.json", import.meta.url));

testUnrulyGraphs(
  PROJECT,
  [
    ["exit", 0, /exited with code 1/],
    ["abort", 0, /SIGABRT/],
    ["native", 0, /SIGSEGV/],
    ["buffers", 0, /exceeded its memory limit of 300 MB/],
    ["block", 60_000, /did not answer for 2 s: run [-0-9a-f]{36} blocked its event loop at .*graphs\./],
  ],
  { HEDDLE_PYTHON: process.env["HEDDLE_PYTHON"]! },
);
