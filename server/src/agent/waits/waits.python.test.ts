import { fileURLToPath } from "node:url";

import { describeWaits } from "../../../test/waiting.ts";

const python = { HEDDLE_PYTHON: process.env["HEDDLE_PYTHON"]! };
await describeWaits(python, fileURLToPath(new URL("../../../../examples/python/langgraph.json", import.meta.url)));
