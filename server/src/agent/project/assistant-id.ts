import { AppError } from "../../base/errors.ts";
import { isUuid, uuid5 } from "../../base/ids.ts";

/** UUID namespace of default assistants: every client can compute their ids. */
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

/** Error for an assistant that does not exist. For the Python server an id that can be none is an invalid request. */
export const unknownAssistant = (
  id: string,
  message = `No assistant found for "${id}". Make sure the assistant ID is for a valid assistant or a valid graph ID.`,
): AppError => new AppError(404, message, { pythonStatus: isUuid(id) ? 404 : 422 });
