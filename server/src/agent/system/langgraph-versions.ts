import type { AgentDeps } from "../deps.ts";
import { languagesIn } from "../hosts/graph-hosts.ts";

/** Returns the versions of LangGraph that execute the project's graphs, in the fields of LangGraph's own servers. */
export function langgraphVersions({ hosts, project }: Pick<AgentDeps, "hosts" | "project">) {
  const languages = languagesIn(project);
  return {
    ...(languages.has("javascript") && {
      langgraph_js_version: hosts.langgraphVersion("javascript") ?? null,
      context: "js" as const,
    }),
    ...(languages.has("python") && { langgraph_py_version: hosts.langgraphVersion("python") ?? null }),
  };
}
