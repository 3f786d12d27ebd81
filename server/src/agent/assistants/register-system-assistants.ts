import { z } from "zod";

import { ConfigError } from "../../base/config/options.ts";
import { jsonObject } from "../../base/http/fields.ts";
import type { AgentDeps } from "../deps.ts";
import { systemAssistantId } from "./assistant-id.ts";
import { insertAssistant } from "./sql.ts";

const seedsSchema = z.record(z.string(), jsonObject);

/**
 * Gives every declared graph its default assistant. One that exists is left as it is, whatever the project
 * says now: its owner may have changed it, and a change would be a version that nobody made.
 */
export async function registerSystemAssistants(deps: Pick<AgentDeps, "sql" | "project" | "settings">): Promise<void> {
  const seeds = parseSeeds(deps.settings.langgraphConfig);
  for (const [graphId, spec] of Object.entries(deps.project.graphs)) {
    const { context = {}, ...config } = seeds[graphId] ?? {};
    await insertAssistant(deps.sql, {
      assistant_id: systemAssistantId(graphId),
      graph_id: graphId,
      name: graphId,
      description: spec.description,
      config,
      context,
      metadata: { created_by: "system" },
    });
  }
}

/** `{"<graph id>": {"configurable": …, "context": …}}` */
function parseSeeds(text: string | undefined): Record<string, Record<string, unknown>> {
  if (!text) return {};
  try {
    return seedsSchema.parse(JSON.parse(text));
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : "it must map graph ids to objects";
    throw new ConfigError(`LANGGRAPH_CONFIG cannot be read: ${reason}`);
  }
}
