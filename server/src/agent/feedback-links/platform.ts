import type { TraceDestination } from "../../../../host-kit/src/host-protocol.ts";
import type { Project } from "../project/read-project.ts";
import { agentOptions, type AgentSettings } from "../settings.ts";

/** Default destination of LangChain's own tracing. */
const LANGSMITH = "https://api.smith.langchain.com";

/**
 * The platform that issues feedback links: the destination of run traces, else that of LangChain's own tracing, where
 * it is switched on in the environment or the project.
 */
export function feedbackPlatform(
  settings: AgentSettings,
  project: Pick<Project, "env">,
  traces: TraceDestination,
): TraceDestination {
  if (traces.state !== "off") return traces;
  const findSetting = (name: "langsmithTracing" | "langsmithEndpoint" | "langsmithKey") =>
    settings[name] ?? agentOptions[name].env.map((variable) => project.env[variable]).find(Boolean);
  if (findSetting("langsmithTracing")?.toLowerCase() !== "true") return traces;
  const url = (findSetting("langsmithEndpoint") ?? LANGSMITH).replace(/\/+$/, "");
  return { state: "on", url, key: findSetting("langsmithKey") ?? null };
}
