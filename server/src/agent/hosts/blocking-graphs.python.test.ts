/** Python code that blocks its event loop costs at most its own run. */
import { fileURLToPath } from "node:url";

import { testBlockingGraphs } from "../../../test/blocking-graphs.ts";

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/unruly-python/langgraph.json", import.meta.url));

testBlockingGraphs(
  PROJECT,
  /graphs\.py:\d+ in harm/,
  { canInterrupt: true },
  {
    HEDDLE_PYTHON: process.env["HEDDLE_PYTHON"]!,
  },
);
