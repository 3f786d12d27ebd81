import type { Sql } from "../../base/db/connect.ts";
import { conflict, notFound } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { tagNew } from "../resource-tags/change-tags.ts";
import type { CreateBody, UpdateBody } from "./schema.ts";
import * as rows from "./sql.ts";

/**
 * Creates a project, or with `upsert` updates the project with that name. Throws 404 when its reference dataset does not
 * exist, 409 when the name or the id is already used.
 */
export async function createProject(
  { sql, deletions }: Pick<TraceDeps, "sql" | "deletions">,
  tenantId: string,
  body: CreateBody,
  upsert: boolean,
): Promise<rows.Project> {
  const dataset = body.reference_dataset_id;
  if (dataset != null && !(await rows.hasDataset(sql, tenantId, dataset))) throw notFound("Dataset not found");
  const id = body.id ?? uuid7();
  const project = { ...body, id, name: body.name ?? id, experiment: experimentFields(body) };
  const created = await sql.begin(async (tx) => {
    const inserted = await rows.insertProject(tx, tenantId, project);
    if (inserted) await tagNew(tx, tenantId, id, dataset == null ? "project" : "experiment", body.tag_value_ids);
    // a deletion of what a project of this id contained must not take what is sent to the new one
    const wasDeleted = inserted && body.id != null && (await rows.isBeingDeleted(tx, tenantId, id));
    if (wasDeleted) await deletions.exclude(tx, tenantId);
    return inserted;
  });
  if (created) return created;
  const known = await rows.findProjectByName(sql, tenantId, project.name);
  if (upsert && known) {
    // the client always sends an object, empty by default
    const extra = Object.keys(project.extra ?? {}).length > 0 ? project.extra : null;
    return (await rows.updateProject(sql, tenantId, known.id, { ...project, extra })) ?? known;
  }
  throw conflict(known ? `Session with name "${project.name}" already exists` : `Session with ID ${id} already exists`);
}

/** @returns undefined when there is no such project. Throws 409 when another project has the name */
export async function updateProject(
  sql: Sql,
  tenantId: string,
  id: string,
  body: UpdateBody,
): Promise<rows.Project | undefined> {
  try {
    return await rows.updateProject(sql, tenantId, id, body);
  } catch (error) {
    if ((error as { code?: string }).code !== "23505") throw error;
    throw conflict(`Session with name "${body.name}" already exists`);
  }
}

function experimentFields({
  num_examples,
  num_repetitions,
  evaluator_keys,
}: CreateBody): Record<string, unknown> | null {
  const entries = Object.entries({ num_examples, num_repetitions, evaluator_keys }).filter(
    ([, value]) => value != null,
  );
  return entries.length > 0 ? Object.fromEntries(entries) : null;
}
