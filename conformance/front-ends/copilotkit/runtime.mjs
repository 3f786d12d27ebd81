/** CopilotKit's runtime with Heddle's graphs as agents. Arguments: Heddle's URL, its key. Prints its port. */
import { LangGraphAgent } from "@ag-ui/langgraph";
import { CopilotRuntime, createCopilotEndpoint, InMemoryAgentRunner } from "@copilotkit/runtime/v2";
import { serve } from "@hono/node-server";

const [deploymentUrl, langsmithApiKey] = process.argv.slice(2);
const agent = (graphId) => new LangGraphAgent({ deploymentUrl, graphId, langsmithApiKey });
const runtime = new CopilotRuntime({
  agents: { agent: agent("agent"), approval: agent("approval") },
  runner: new InMemoryAgentRunner(),
});
const app = createCopilotEndpoint({ runtime, basePath: "/api/copilotkit" });
serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => console.log(`port ${port}`));
