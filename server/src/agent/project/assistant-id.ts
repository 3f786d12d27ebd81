import { isUuid, uuid5 } from "../../base/ids.ts";

/** UUID namespace of default assistants: every client can compute their ids (contract §1.2). */
const NAMESPACE = "6ba7b821-9dad-11d1-80b4-00c04fd430c8";

export const systemAssistantId = (graphId: string): string => uuid5(graphId, NAMESPACE);

/**
 * Resolves an assistant id. Wherever one is accepted, the id of a declared graph stands for its default assistant.
 * Undefined when it can be neither, which saves a query.
 */
export function resolveAssistantId(project: { graphs: object }, id: string): string | undefined {
  if (Object.hasOwn(project.graphs, id)) return systemAssistantId(id);
  return isUuid(id) ? id.toLowerCase() : undefined;
}
