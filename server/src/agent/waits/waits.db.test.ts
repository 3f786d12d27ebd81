import { fileURLToPath } from "node:url";

import { describeWaits } from "../../../test/waiting.ts";

await describeWaits({}, fileURLToPath(new URL("../../../../examples/langgraph.json", import.meta.url)));
