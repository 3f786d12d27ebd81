import { z } from "zod";

import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { cancel, createExport, unknownExport } from "./create-export.ts";
import { selectDestination } from "../export-destinations/sql.ts";
import { requireExports } from "../export-destinations/export-plan.ts";
import { ExportVerifier } from "./stream-verification.ts";
import { serializeExport, serializeExportRun } from "./serialize.ts";
import * as schema from "./schema.ts";
import { type ExportRunRow, findExport, listExportRuns, listExports } from "./sql.ts";

const shared = { tag: "Bulk exports" } as const;

/** Routes of exports and their runs. Those of destinations are mounted before. */
export function bulkExportRoutes(deps: TraceDeps): Route[] {
  const { sql, settings } = deps;
  const { exportStatusCase } = settings;
  const verifier = new ExportVerifier(deps);
  return [
    route({
      ...shared,
      ...v1("/bulk-exports"),
      method: "POST",
      permission: "bulk-exports:manage",
      summary: "Export runs once, or on a schedule",
      body: schema.createBody,
      out: { 200: schema.bulkExport },
      errors: [404],
      async handler({ body, principal, c }) {
        requireExports(principal);
        const created = await createExport(deps, principal, body);
        deps.exporter.wake();
        return c.json(serializeExport(created, exportStatusCase));
      },
    }),
    route({
      ...shared,
      ...v1("/bulk-exports"),
      method: "GET",
      permission: "bulk-exports:read",
      summary: "List exports, newest first",
      query: schema.listQuery,
      out: { 200: z.array(schema.bulkExport) },
      async handler({ query, principal, c }) {
        requireExports(principal);
        const rows = await listExports(sql, principal.workspaceId, query.limit, query.offset);
        return c.json(rows.map((row) => serializeExport(row, exportStatusCase)));
      },
    }),
    // before /bulk-exports/:bulk_export_id, which would match "runs" as an id
    route({
      ...shared,
      ...v1("/bulk-exports/runs"),
      method: "GET",
      permission: "bulk-exports:read",
      summary: "List the runs of all exports that a schedule created",
      query: schema.runsOfScheduleQuery,
      out: { 200: z.array(schema.bulkExportRun) },
      errors: [404],
      async handler({ query, principal, c }) {
        requireExports(principal);
        const { workspaceId } = principal;
        const scheduleId = query.source_bulk_export_id;
        if (!(await findExport(sql, workspaceId, scheduleId))) throw unknownExport(scheduleId);
        const rows = await listExportRuns(sql, workspaceId, { scheduleId }, query);
        return c.json(await print(workspaceId, rows));
      },
    }),
    route({
      ...shared,
      ...v1("/bulk-exports/:bulk_export_id"),
      method: "GET",
      permission: "bulk-exports:read",
      summary: "Get an export and its progress",
      params: schema.exportParams,
      out: { 200: schema.bulkExport },
      errors: [404],
      async handler({ params, principal, c }) {
        requireExports(principal);
        const row = await findExport(sql, principal.workspaceId, params.bulk_export_id);
        if (!row) throw unknownExport(params.bulk_export_id);
        return c.json(serializeExport(row, exportStatusCase));
      },
    }),
    route({
      ...shared,
      ...v1("/bulk-exports/:bulk_export_id"),
      method: "PATCH",
      permission: "bulk-exports:manage",
      summary: "Cancel an export; exports that a schedule has already created continue",
      params: schema.exportParams,
      body: schema.updateBody,
      out: { 200: schema.bulkExport },
      errors: [400, 404, 409],
      async handler({ params, principal, c }) {
        requireExports(principal);
        const row = await cancel(deps, principal.workspaceId, params.bulk_export_id);
        deps.exporter.wake();
        return c.json(serializeExport(row, exportStatusCase));
      },
    }),
    route({
      ...shared,
      ...v1("/bulk-exports/:bulk_export_id/verification"),
      method: "POST",
      permission: "bulk-exports:manage",
      audit: "data",
      summary:
        "Compare the files in the bucket with the export's manifest, and stream the progress as server-sent events",
      params: schema.exportParams,
      out: { 200: "text/event-stream" },
      errors: [404, 409],
      async handler({ params, principal }) {
        requireExports(principal);
        const row = await findExport(sql, principal.workspaceId, params.bulk_export_id);
        if (!row) throw unknownExport(params.bulk_export_id);
        return verifier.verify(row);
      },
    }),
    route({
      ...shared,
      ...v1("/bulk-exports/:bulk_export_id/runs"),
      method: "GET",
      permission: "bulk-exports:read",
      summary: "List the runs of an export, one per day of its window",
      params: schema.exportParams,
      query: schema.listQuery,
      out: { 200: z.array(schema.bulkExportRun) },
      errors: [404],
      async handler({ params, query, principal, c }) {
        requireExports(principal);
        const { workspaceId } = principal;
        const exportId = params.bulk_export_id;
        if (!(await findExport(sql, workspaceId, exportId))) throw unknownExport(exportId);
        const rows = await listExportRuns(sql, workspaceId, { exportId }, query);
        return c.json(await print(workspaceId, rows));
      },
    }),
    route({
      ...shared,
      ...v1("/bulk-exports/:bulk_export_id/runs/:run_id"),
      method: "GET",
      permission: "bulk-exports:read",
      summary: "Get a run of an export",
      params: schema.exportRunParams,
      out: { 200: schema.bulkExportRun },
      errors: [404],
      async handler({ params, principal, c }) {
        requireExports(principal);
        const { workspaceId } = principal;
        const { bulk_export_id: exportId, run_id: runId } = params;
        const rows = await listExportRuns(sql, workspaceId, { exportId }, { limit: 1, offset: 0, runId });
        if (rows.length === 0) throw notFound(`Run with ID ${runId} of bulk export ${exportId} not found`);
        return c.json((await print(workspaceId, rows))[0]!);
      },
    }),
  ];

  /** Serializes runs. Paths need the destination, which cannot be deleted while exports refer to it. */
  async function print(tenantId: string, rows: ExportRunRow[]) {
    const ids = [...new Set(rows.map((row) => row.destination_id))];
    const found = await Promise.all(ids.map((id) => selectDestination(sql, tenantId, id)));
    const configs = new Map(
      found.flatMap((destination) => (destination ? [[destination.id, destination.config] as const] : [])),
    );
    return rows.map((row) => serializeExportRun(row, configs.get(row.destination_id)!, exportStatusCase));
  }
}
