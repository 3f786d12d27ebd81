import type { TraceDestination } from "../../../../graph-host/src/protocol.ts";
import { agentOptions, type AgentSettings } from "../settings.ts";
import type { Project } from "../project/read-project.ts";

/** Destination of run traces configured by the operator, if any. */
export function configuredDestination({ tracingUrl, tracingKey }: AgentSettings): TraceDestination | undefined {
  if (tracingUrl === undefined) return undefined;
  return { state: "on", url: tracingUrl.replace(/\/+$/, ""), key: tracingKey ?? null };
}

/**
 * Whether the operator or the project has turned tracing off by LangChain's own switch. The operator's setting takes
 * precedence.
 */
export function isTracingRefused(settings: AgentSettings, project: Project): boolean {
  const ofProject = agentOptions.langsmithTracing.env.map((name) => project.env[name]).find(Boolean);
  return (settings.langsmithTracing ?? ofProject)?.toLowerCase() === "false";
}
