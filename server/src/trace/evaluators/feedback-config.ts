import type { Sql } from "../../base/db/connect.ts";
import { ensureConfig } from "../feedback-configs/sql.ts";
import type { FeedbackConfig } from "../feedback-configs/schema.ts";
import type { Definition, ScoreKey } from "./definition.ts";

/** Configures the keys of a judge that have no configuration yet, so that people label with the same categories. */
export async function configureKeys(sql: Sql, tenantId: string, definition: Definition): Promise<void> {
  const scores = definition.type === "llm" ? (definition.scores ?? []) : [];
  for (const score of scores) await ensureConfig(sql, tenantId, score.key, toConfig(score));
}

function toConfig({ type, min, max, choices }: ScoreKey): FeedbackConfig {
  if (type === "number") return { type: "continuous", ...(min != null && { min }), ...(max != null && { max }) };
  if (type === "boolean") {
    return {
      type: "categorical",
      categories: [
        { value: 0, label: "false" },
        { value: 1, label: "true" },
      ],
    };
  }
  return { type: "categorical", categories: choices!.map(({ label, score }, i) => ({ value: score ?? i, label })) };
}
