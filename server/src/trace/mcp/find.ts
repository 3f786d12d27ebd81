/** Ids of things that tools take by name or id. */
import { isUuid } from "../../base/ids.ts";
import type { PlatformApi } from "./platform-api.ts";
import { ToolError } from "./tool-error.ts";

interface Named {
  id: string;
  name: string;
}

/** @throws ToolError when there is none */
export async function findProject(api: PlatformApi, nameOrId: string): Promise<string> {
  const [found] = await api.get<Named[]>("/api/v1/sessions", { name: nameOrId, limit: 1 });
  if (found) return found.id;
  if (isUuid(nameOrId)) return nameOrId;
  throw new ToolError(`There is no project "${nameOrId}". list_projects lists their names.`);
}

/** @throws ToolError when there is none */
export async function findDataset(api: PlatformApi, nameOrId: string): Promise<string> {
  const [found] = await api.get<Named[]>("/api/v1/datasets", { name: nameOrId, limit: 1 });
  if (found) return found.id;
  if (isUuid(nameOrId)) return nameOrId;
  throw new ToolError(`There is no dataset "${nameOrId}". list_datasets lists their names.`);
}
