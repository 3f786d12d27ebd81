import { z } from "zod";

import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { isoTime } from "../../base/http/fields.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { datasetParams } from "./schema.ts";
import { findDatasetRow } from "./sql.ts";
import * as schema from "./version-schema.ts";
import * as rows from "./version-sql.ts";

const shared = { tag: "Datasets", params: datasetParams } as const;

/** Routes of versions and their tags. */
export function datasetVersionRoutes({ sql }: Pick<TraceDeps, "sql">): Route[] {
  const found = async (tenantId: string, datasetId: string): Promise<void> => {
    if (!(await findDatasetRow(sql, tenantId, datasetId))) throw notFound("Dataset not found");
  };
  /** Resolves a version. A time resolves to the newest version at or before it. */
  const resolveVersion = async (tenantId: string, datasetId: string, tagOrTime: string): Promise<rows.VersionRow> => {
    const time = tagOrTime === "latest" ? { success: true as const, data: "infinity" } : isoTime.safeParse(tagOrTime);
    const version = time.success
      ? await rows.findVersionAt(sql, tenantId, datasetId, time.data)
      : await rows.findVersionTagged(sql, tenantId, datasetId, tagOrTime);
    if (!version) throw notFound(`The dataset has no version ${tagOrTime}.`);
    return version;
  };

  return [
    route({
      ...shared,
      method: "GET",
      ...v1("/datasets/:dataset_id/versions"),
      permission: "datasets:read",
      summary: "List a dataset's versions, newest first",
      query: schema.listVersionsQuery,
      out: { 200: z.array(schema.version) },
      async handler({ params: { dataset_id: id }, query, principal, c }) {
        await found(principal.workspaceId, id);
        return c.json(await rows.listVersions(sql, principal.workspaceId, id, query));
      },
    }),
    route({
      ...shared,
      method: "GET",
      ...v1("/datasets/:dataset_id/versions/diff"),
      permission: "datasets:read",
      summary: "Compare two versions",
      query: schema.diffQuery,
      out: { 200: schema.diff },
      async handler({ params: { dataset_id: id }, query, principal, c }) {
        const tenantId = principal.workspaceId;
        await found(tenantId, id);
        const from = await resolveVersion(tenantId, id, query.from_version);
        const to = await resolveVersion(tenantId, id, query.to_version);
        return c.json(await rows.diffVersions(sql, tenantId, id, from.as_of, to.as_of));
      },
    }),
    route({
      ...shared,
      method: "GET",
      ...v1("/datasets/:dataset_id/version"),
      permission: "datasets:read",
      summary: "Get the version at a time, before a time, or with a tag",
      query: schema.versionQuery,
      out: { 200: schema.version },
      async handler({ params: { dataset_id: id }, query, principal, c }) {
        await found(principal.workspaceId, id);
        return c.json(await resolveVersion(principal.workspaceId, id, (query.as_of ?? query.tag)!));
      },
    }),
    route({
      ...shared,
      method: "PUT",
      ...v1("/datasets/:dataset_id/tags"),
      permission: "datasets:update",
      summary: "Tag a version; the tag moves from its previous version",
      body: schema.tagBody,
      out: { 200: schema.version },
      async handler({ params: { dataset_id: id }, body, principal, c }) {
        const tenantId = principal.workspaceId;
        await found(tenantId, id);
        const version = await resolveVersion(tenantId, id, body.as_of);
        await rows.upsertTag(sql, tenantId, id, body.tag, version.as_of);
        return c.json(await resolveVersion(tenantId, id, body.tag));
      },
    }),
  ];
}
