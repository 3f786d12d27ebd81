import type { ModelChoice } from "../prompt-playground/draft.ts";
import { isObject } from "../prompt-playground/prompt.ts";

interface Saved {
  id: string;
  name?: string | null;
  settings: Record<string, unknown>;
}

/** Reads a saved configuration; null for one that other clients wrote in another form. */
export function readSavedModel({ id, name, settings }: Saved): { id: string; name: string; model: ModelChoice } | null {
  const { connection_id: connection, provider, model, parameters } = settings;
  const hasOrigin = typeof connection === "string" || typeof provider === "string";
  if (typeof model !== "string" || !hasOrigin) return null;
  return {
    id,
    name: name ?? model,
    model: {
      connectionId: typeof connection === "string" ? connection : null,
      provider: typeof connection !== "string" && typeof provider === "string" ? provider : null,
      model,
      parameters: isObject(parameters) ? parameters : {},
    },
  };
}
