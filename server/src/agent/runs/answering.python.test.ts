import { fileURLToPath } from "node:url";

import { testAgentServer } from "../../../test/agent-server.ts";
import { describeAnswers } from "../../../test/answering.ts";

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/answering-project/python.json", import.meta.url));
const python = { HEDDLE_PYTHON: process.env["HEDDLE_PYTHON"]! };
describeAnswers("a Python graph", await testAgentServer(python, PROJECT));
