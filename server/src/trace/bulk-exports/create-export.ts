import type { Principal } from "../../base/auth/principal.ts";
import { AppError, notFound, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { FilterError } from "../filter/filter-error.ts";
import { limitConditions } from "../filter/limit-conditions.ts";
import { readFilter } from "../filter/read-filter.ts";
import { findProject } from "../projects/sql.ts";
import { orderedFields } from "./columns.ts";
import { selectDestination } from "../export-destinations/sql.ts";
import type { CreateBody } from "./schema.ts";
import { cancelExport, endRuns, type ExportRow, findExport, insertExport, insertExportRuns } from "./sql.ts";

type Deps = Pick<TraceDeps, "sql" | "settings">;

export async function createExport(
  { sql, settings }: Deps,
  { workspaceId }: Pick<Principal, "workspaceId">,
  body: CreateBody,
): Promise<ExportRow> {
  checkFilter(body.filter);
  const { session_id, bulk_export_destination_id: destination_id } = body;
  if (!(await findProject(sql, workspaceId, session_id))) throw notFound(`Session with ID ${session_id} not found`);
  const id = uuid7();
  const isSchedule = body.interval_hours != null;
  await sql.begin(async (tx) => {
    // locked until the export refers to it, so that it cannot be deleted in between
    const destination = await selectDestination(tx, workspaceId, destination_id);
    if (!destination) throw notFound(`Bulk export destination with ID ${destination_id} not found`);
    if (destination.credentials_keys.length === 0 && !settings.exportEnvironmentCredentials) {
      throw unprocessable(
        "Invalid body: bulk_export_destination_id: the destination has no credentials, and this installation " +
          "does not provide its own",
      );
    }
    await insertExport(tx, {
      id,
      tenant_id: workspaceId,
      destination_id,
      session_id,
      start_time: body.start_time,
      end_time: body.end_time ?? null,
      interval_hours: body.interval_hours ?? null,
      filter: body.filter ?? null,
      format_version: body.format_version ?? settings.exportFormatVersion,
      compression: body.compression ?? settings.exportCompression,
      export_fields: body.export_fields ? orderedFields(body.export_fields) : null,
      status: isSchedule ? "RUNNING" : "CREATED",
    });
    if (!isSchedule) await insertExportRuns(tx, id);
  });
  return (await findExport(sql, workspaceId, id))!;
}

function checkFilter(filter: string | null | undefined): void {
  if (filter == null) return;
  try {
    limitConditions([readFilter(filter)]);
  } catch (error) {
    if (error instanceof FilterError) throw unprocessable(`Invalid body: filter: ${error.message}`);
    throw error;
  }
}

/**
 * Cancels an export. An already cancelled export is returned as it is; one that ended otherwise is rejected.
 */
export async function cancel({ sql }: Deps, tenantId: string, id: string): Promise<ExportRow> {
  await sql.begin(async (tx) => {
    if (await cancelExport(tx, tenantId, id)) await endRuns(tx, id, "CANCELLED");
  });
  const row = await findExport(sql, tenantId, id);
  if (!row) throw unknownExport(id);
  if (row.status === "RUNNING")
    throw new AppError(409, "The export is being completed and can no longer be cancelled.");
  if (row.status !== "CANCELLED")
    throw new AppError(400, `The export has already ended with the status ${row.status}.`);
  return row;
}

export const unknownExport = (id: string): AppError => notFound(`Bulk export with ID ${id} not found`);
