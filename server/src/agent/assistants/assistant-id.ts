import { isUuid, uuid5 } from "../../base/ids.ts";

/** The namespace of default assistants: every client can compute their ids (contract §1.2). */
const NAMESPACE = "6ba7b821-9dad-11d1-80b4-00c04fd430c8";

export const systemAssistantId = (graphId: string): string => uuid5(graphId, NAMESPACE);

/**
 * The assistant that a caller means: wherever an assistant id is accepted, the id of a declared graph stands
 * for its default assistant. Undefined when it can be neither, so that the database is not asked in vain.
 */
export function resolveAssistantId(project: { graphs: object }, id: string): string | undefined {
  if (Object.hasOwn(project.graphs, id)) return systemAssistantId(id);
  return isUuid(id) ? id.toLowerCase() : undefined;
}
