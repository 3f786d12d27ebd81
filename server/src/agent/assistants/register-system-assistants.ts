import { z } from "zod";

import { ConfigError } from "../../base/config/options.ts";
import { jsonObject } from "../../base/http/fields.ts";
import type { AgentDeps } from "../deps.ts";
import { systemAssistantId } from "../project/assistant-id.ts";
import { insertAssistant, reseedAssistant } from "./sql.ts";

const seedsSchema = z.record(z.string(), jsonObject);

/**
 * Creates the default assistant of every declared graph. One that its users have not edited takes the configuration of
 * LANGGRAPH_CONFIG, from the environment or else from the project's `env`, again; an edited one is left unchanged.
 */
export async function registerSystemAssistants(deps: Pick<AgentDeps, "sql" | "project" | "settings">): Promise<void> {
  const seeds = parseSeeds(deps.settings.langgraphConfig ?? deps.project.env["LANGGRAPH_CONFIG"]);
  for (const [graphId, spec] of Object.entries(deps.project.graphs)) {
    const { context = {}, ...config } = seeds[graphId] ?? {};
    const assistantId = systemAssistantId(graphId);
    const created = await insertAssistant(deps.sql, {
      assistant_id: assistantId,
      graph_id: graphId,
      name: graphId,
      description: spec.description,
      config,
      context,
      metadata: { created_by: "system" },
    });
    if (created === undefined) await reseedAssistant(deps.sql, { assistant_id: assistantId, config, context });
  }
}

/** Parses `{"<graph id>": {"configurable": …, "context": …}}`. */
function parseSeeds(text: string | undefined): Record<string, Record<string, unknown>> {
  if (!text) return {};
  try {
    return seedsSchema.parse(JSON.parse(text));
  } catch (error) {
    const reason =
      error instanceof SyntaxError
        ? error.message
        : "it must be an object with graph ids as keys " + "and objects as values";
    throw new ConfigError(`LANGGRAPH_CONFIG is invalid: ${reason}`);
  }
}
