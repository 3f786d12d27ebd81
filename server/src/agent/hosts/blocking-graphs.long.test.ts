/** JavaScript code that blocks its event loop costs at most its own run. */
import { fileURLToPath } from "node:url";

import { testBlockingGraphs } from "../../../test/blocking-graphs.ts";

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/unruly-project/langgraph.json", import.meta.url));

testBlockingGraphs(PROJECT, /(?:block|busy) \(graphs\.ts:\d+:\d+\)/, { canInterrupt: false });
