import { fileURLToPath } from "node:url";

import { testAgentServer } from "../../../test/agent-server.ts";
import { describeAnswers } from "../../../test/answering.ts";

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/answering-project/langgraph.json", import.meta.url));
describeAnswers("a JavaScript graph", await testAgentServer({}, PROJECT));
