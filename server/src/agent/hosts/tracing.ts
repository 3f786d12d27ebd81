import type { TraceDestination } from "../../../../graph-host/src/protocol.ts";
import { agentOptions, type AgentSettings } from "../settings.ts";
import type { Project } from "../project/read-project.ts";

/** Where the operator has the traces of runs sent, when they say so. */
export function configuredDestination({ tracingUrl, tracingKey }: AgentSettings): TraceDestination | undefined {
  if (tracingUrl === undefined) return undefined;
  return { state: "on", url: tracingUrl.replace(/\/+$/, ""), key: tracingKey ?? null };
}

/**
 * Whether whoever started the server, or else the project, says that its runs are not to be traced: by the switch
 * that LangChain's own tracing has.
 */
export function isTracingRefused(settings: AgentSettings, project: Project): boolean {
  const ofProject = agentOptions.langsmithTracing.env.map((name) => project.env[name]).find(Boolean);
  return (settings.langsmithTracing ?? ofProject)?.toLowerCase() === "false";
}
