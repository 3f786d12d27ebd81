import type { TraceDestination } from "../../../../host-kit/src/host-protocol.ts";
import { agentOptions, type AgentSettings } from "../settings.ts";
import type { Project } from "../project/read-project.ts";

/** Returns the operator's destination of run traces, if one is configured. */
export function configuredDestination({ tracingUrl, tracingKey }: AgentSettings): TraceDestination | undefined {
  if (tracingUrl === undefined) return undefined;
  return { state: "on", url: tracingUrl.replace(/\/+$/, ""), key: tracingKey ?? null };
}

/** Name of the project of the runs' traces. The operator's setting takes precedence. */
export const tracingProject = (settings: AgentSettings, project: Project): string =>
  settings.langsmithProject ??
  agentOptions.langsmithProject.env.map((name) => project.env[name]).find(Boolean) ??
  "default";

/**
 * Whether the operator or the project has disabled tracing with LangChain's variables. The operator's setting takes
 * precedence.
 */
export function isTracingDisabled(settings: AgentSettings, project: Project): boolean {
  const projectValue = agentOptions.langsmithTracing.env.map((name) => project.env[name]).find(Boolean);
  return (settings.langsmithTracing ?? projectValue)?.toLowerCase() === "false";
}
