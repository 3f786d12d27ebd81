/** JavaScript graphs whose runs get their own host. */
import { fileURLToPath } from "node:url";

import { testIsolatedGraphs } from "../../../test/isolated-graphs.ts";

testIsolatedGraphs(fileURLToPath(new URL("../../../test/fixtures/unruly-project/langgraph.json", import.meta.url)));
