/** JavaScript graphs whose runs get a host of their own. */
import { fileURLToPath } from "node:url";

import { testIsolatedGraphs } from "../../../test/isolated-graphs.ts";

testIsolatedGraphs(fileURLToPath(new URL("../../../test/fixtures/unruly-project/langgraph.json", import.meta.url)));
