import type { Permission } from "../../base/auth/permissions.ts";
import type { Principal } from "../../base/auth/principal.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { conflict, forbidden, notFound, unprocessable } from "../../base/errors.ts";
import { type Label, MAX_TAGS, type Resource, RESOURCE_TYPES, type ResourceType } from "./schema.ts";
import * as rows from "./sql.ts";

/** Resources' part of their permissions: who may read one sees its tags, who may update one changes them. */
const GUARDS = {
  dashboard: "charts",
  dataset: "datasets",
  evaluator: "evaluators",
  experiment: "projects",
  project: "projects",
  prompt: "prompts",
  queue: "annotation-queues",
} as const satisfies Record<ResourceType, string>;

/** Throws 403 unless the caller may do this with resources of the type. */
export function checkRight({ permissions }: Principal, type: ResourceType, verb: "read" | "update"): void {
  const permission: Permission = `${GUARDS[type]}:${verb}`;
  if (!permissions.has(permission))
    throw forbidden(`Tags of the type "${type}" require the permission "${permission}"`);
}

/** Types of resources that the caller may read. */
export const readableTypes = ({ permissions }: Principal): ResourceType[] =>
  RESOURCE_TYPES.filter((type) => permissions.has(`${GUARDS[type]}:read`));

/** Creates a key, or with `keyId` a value of it. @returns its id */
export const createLabel = (sql: Sql, tenantId: string, label: Label, keyId?: string): Promise<string> =>
  sql.begin(async (tx) => {
    await rows.lockTags(tx, tenantId);
    const id =
      keyId === undefined
        ? await rows.insertKey(tx, tenantId, label)
        : await rows.insertValue(tx, tenantId, keyId, label);
    if (id === "absent") throw notFound("Tag key not found");
    if (id === "full")
      throw unprocessable(`${keyId ? "A tag key" : "A workspace"} can have at most ${MAX_TAGS} of them`);
    if (id === undefined) throw conflict(`A tag ${keyId ? "value" : "key"} "${label.text}" exists`);
    return id;
  });

/** Changes a key, or a value. Throws 409 when another one has its text. */
export async function changeLabel(change: Promise<void>, text: string | null | undefined): Promise<void> {
  try {
    await change;
  } catch (error) {
    if ((error as { code?: string }).code !== "23505") throw error;
    throw conflict(`Another tag has the name "${text}"`);
  }
}

/** Gives a resource that the caller creates tags. Throws 404 when there is no such tag. */
export async function tagNew(
  sql: Sql | Transaction,
  tenantId: string,
  id: string,
  type: ResourceType,
  valueIds: readonly string[] | null | undefined,
): Promise<void> {
  if (!valueIds?.length) return;
  const wanted = [...new Set(valueIds)];
  if ((await rows.insertTaggings(sql, tenantId, wanted, id, type)) < wanted.length)
    throw notFound("Tag value not found");
}

/** Gives a resource a tag; one that it has stays. @returns the tagging as JSON */
export async function tagResource(tx: Transaction, principal: Principal, valueId: string, resource: Resource) {
  checkRight(principal, resource.resource_type, "update");
  await rows.lockTags(tx, principal.workspaceId);
  const { item, has_value, has_resource } = await rows.insertTagging(tx, principal.workspaceId, valueId, resource);
  if (!has_value) throw notFound("Tag value not found");
  if (!has_resource) throw notFound(`There is no ${resource.resource_type} with this id`);
  if (item === null) throw unprocessable(`A resource can have at most ${MAX_TAGS} tags`);
  return item;
}
