import type { Principal } from "../../base/auth/principal.ts";
import type { Sql } from "../../base/db/connect.ts";
import { forbidden, unprocessable } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import { isUuid } from "../../base/ids.ts";
import { exportAuditLog } from "./export-audit-log.ts";
import { toOcsf } from "./ocsf.ts";
import { AuditExportQuery, type AuditFilterQuery, AuditPage, AuditQuery } from "./schema.ts";
import { type AuditFilter, type AuditPosition, selectAuditRows } from "./sql.ts";

const shared = { tag: "Audit log", method: "GET", permission: "audit:read" } as const;

export function auditRoutes({ sql }: { sql: Sql }): Route[] {
  return [
    route({
      ...shared,
      ...v1("/audit-logs"),
      summary: "List changes, newest first, as OCSF API Activity events",
      query: AuditQuery,
      out: { 200: AuditPage },
      async handler({ query, principal, c }) {
        const after = query.cursor === undefined ? undefined : readCursor(query.cursor);
        const { rows, next } = await selectAuditRows(sql, toFilter(query, principal), { after, limit: query.limit });
        return c.json({ cursor: next && writeCursor(next), items: rows.map(toOcsf) });
      },
    }),
    route({
      ...shared,
      ...v1("/audit-logs/export"),
      summary: "Export the audit log, oldest first, as JSON lines or CSV",
      query: AuditExportQuery,
      out: { 200: "application/x-ndjson" },
      handler({ query, principal }) {
        const pieces = exportAuditLog(sql, toFilter(query, principal), query.format);
        const type = query.format === "csv" ? "text/csv;charset=utf-8" : "application/x-ndjson";
        return new Response(toByteStream(pieces), {
          headers: {
            "Content-Type": type,
            "Content-Disposition": `attachment; filename="audit-log.${query.format}"`,
            "Cache-Control": "no-store",
          },
        });
      },
    }),
  ];
}

/**
 * Restricts a query to the caller's workspace or, with organization:manage, to the organization. Entries without an
 * organization, such as attempts without a valid key, are for the operator only (`heddle audit export`).
 */
function toFilter(query: AuditFilterQuery, principal: Principal): AuditFilter {
  const ofOrganization = principal.permissions.has("organization:manage");
  if (!ofOrganization && query.workspace_id !== undefined && query.workspace_id !== principal.workspaceId) {
    throw forbidden("Forbidden: the audit log of another workspace requires the permission organization:manage.");
  }
  return {
    organizationId: principal.organizationId || null,
    workspaceId: ofOrganization ? query.workspace_id : principal.workspaceId,
    from: query.start_time,
    to: query.end_time,
    operations: query.operations,
    actorId: query.actor_id,
    target: query.target,
  };
}

/** Base64url-encoded JSON, as in the contract. */
const writeCursor = (position: AuditPosition): string => Buffer.from(JSON.stringify(position)).toString("base64url");

function readCursor(text: string): AuditPosition {
  try {
    const { at, id } = JSON.parse(Buffer.from(text, "base64url").toString()) as Record<string, unknown>;
    if (typeof at === "string" && typeof id === "string" && isUuid(id)) return { at: new Date(at).toISOString(), id };
  } catch {
    // rejected below
  }
  throw unprocessable("Invalid query: cursor: unknown or expired");
}

/** Streams the pieces on demand: each is generated after the reader has consumed the previous one. */
function toByteStream(pieces: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await pieces.return(undefined);
    },
  });
}
