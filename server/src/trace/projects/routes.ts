import { z } from "zod";

import { notFound, unprocessable } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { paginationHeaders } from "../../base/http/pagination.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { parseTime } from "../run-rows/times.ts";
import { eraseProjects } from "../erasures/erase-at-request.ts";
import { RunScope } from "../runs/run-scope.ts";
import { createProject, updateProject } from "./create-project.ts";
import { listProjects, plain } from "./list-projects.ts";
import { metadataValues } from "./metadata-values.ts";
import { projectStats } from "./project-stats.ts";
import * as schema from "./schema.ts";
import { findProject } from "./sql.ts";

const shared = { tag: "Projects" } as const;

const deletion = z.object({ deleted: z.array(z.string()), erasure_id: z.guid().optional() });

const unknownProject = (id: string) => notFound(`Session with ID ${id} not found`);

export function projectRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  return [
    route({
      ...shared,
      ...v1("/sessions"),
      method: "POST",
      permission: "projects:create",
      summary: "Create a project, or update the one with this name",
      query: schema.createQuery,
      body: schema.createBody,
      out: { 200: schema.project },
      errors: [404, 409, 503],
      async handler({ body, query, principal, c }) {
        return c.json(plain(await createProject(deps, principal.workspaceId, body, query.upsert ?? false)));
      },
    }),
    route({
      ...shared,
      ...v1("/sessions"),
      method: "GET",
      permission: "projects:read",
      summary: "List projects",
      query: schema.listQuery,
      out: { 200: z.array(schema.projectWithStats) },
      errors: [400],
      async handler({ query, principal, c }) {
        const { items, total } = await listProjects(deps, RunScope.of(principal), query);
        return c.json(items, 200, paginationHeaders(total, query.offset, query.limit));
      },
    }),
    route({
      ...shared,
      ...v1("/sessions"),
      method: "DELETE",
      permission: "projects:delete",
      summary: "Delete projects with all their runs",
      query: schema.deleteQuery,
      out: { 200: deletion },
      errors: [404, 409],
      async handler({ query, principal, c }) {
        const ids = query.session_ids ?? [];
        if (ids.length === 0) throw unprocessable("Invalid query: session_ids: at least one is required");
        const found = await eraseProjects(deps, principal, ids, query.dataset_copies ?? false);
        if (found.deleted.length === 0) throw unknownProject(ids[0]!);
        return c.json(found);
      },
    }),
    route({
      ...shared,
      ...v1("/sessions/:session_id"),
      method: "GET",
      permission: "projects:read",
      summary: "Get a project",
      params: schema.projectParams,
      query: schema.readQuery,
      out: { 200: schema.projectWithStats },
      errors: [400, 404],
      async handler({ params, query, principal, c }) {
        const id = params.session_id;
        const project = await findProject(sql, principal.workspaceId, id);
        if (!project) throw unknownProject(id);
        const stats = query.include_stats ? await projectStats(deps, RunScope.of(principal), [id], query) : undefined;
        return c.json({ ...plain(project), ...stats?.get(id) });
      },
    }),
    route({
      ...shared,
      ...v1("/sessions/:session_id"),
      method: "PATCH",
      permission: "projects:update",
      summary: "Update a project; null leaves a field unchanged, but clears retention_days and incomplete_after_hours",
      params: schema.projectParams,
      body: schema.updateBody,
      out: { 200: schema.project },
      errors: [404, 409],
      async handler({ params, body, principal, c }) {
        const project = await updateProject(sql, principal.workspaceId, params.session_id, body);
        if (!project) throw unknownProject(params.session_id);
        deps.projects.forget();
        return c.json(plain(project));
      },
    }),
    route({
      ...shared,
      ...v1("/sessions/:session_id"),
      method: "DELETE",
      permission: "projects:delete",
      summary: "Delete a project with all its runs",
      params: schema.projectParams,
      query: schema.deleteOneQuery,
      out: { 200: deletion },
      errors: [404, 409],
      async handler({ params, query, principal, c }) {
        const found = await eraseProjects(deps, principal, [params.session_id], query.dataset_copies ?? false);
        if (found.deleted.length === 0) throw unknownProject(params.session_id);
        return c.json(found);
      },
    }),
    route({
      ...shared,
      ...v1("/sessions/:session_id/metadata"),
      method: "GET",
      permission: "runs:read",
      summary: "List the most frequent metadata values of a project's runs",
      params: schema.projectParams,
      query: schema.metadataQuery,
      out: { 200: z.record(z.string(), z.array(z.string())) },
      errors: [404],
      async handler({ params, query, principal, c }) {
        const scope = RunScope.of(principal);
        if (!(await findProject(sql, scope.tenantId, params.session_id))) throw unknownProject(params.session_id);
        const selection = {
          projects: [params.session_id],
          since: query.start_time === undefined ? undefined : parseTime(query.start_time),
          is_head: query.root_runs_only ? true : undefined,
        };
        const metadata = { keys: query.metadata_keys, perKey: query.k };
        return c.json(await metadataValues(deps.clickhouse, scope, selection, metadata));
      },
    }),
  ];
}
