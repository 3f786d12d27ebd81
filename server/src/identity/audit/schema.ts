import { z } from "zod";

import { queryLimit, storableText, uuid } from "../../base/http/fields.ts";

/** Point in time; UTC if it has no zone. */
const time = z.iso
  .datetime({ offset: true, local: true, error: "must be an ISO 8601 time" })
  .transform((text) => new Date(/[zZ]|[+-]\d\d:?\d\d$/.test(text) ? text : `${text}Z`))
  .refine((at) => !Number.isNaN(at.getTime()), "must be a valid time");

const someTexts = z
  .union([storableText, z.array(storableText).max(100)])
  .transform((value) => (Array.isArray(value) ? value : [value]))
  .optional();

const filter = {
  start_time: time.describe("Inclusive"),
  end_time: time.describe("Inclusive"),
  workspace_id: uuid.optional(),
  operations: someTexts.describe("Operation names, such as create_api_key or POST /api/v1/api-key"),
  actor_id: storableText.optional().describe("Id of a key or a user"),
  target: storableText.optional().describe("Id of a changed object"),
};

export const AuditQuery = z.object({
  ...filter,
  limit: queryLimit(10, 100),
  cursor: storableText.optional(),
});

export const AuditExportQuery = z.object({
  ...filter,
  format: z.enum(["ndjson", "csv"]).default("ndjson"),
});

export type AuditFilterQuery = Omit<z.output<typeof AuditExportQuery>, "format">;

const nullableUuid = z.string().nullable();

const AuditLogMessage = z.object({
  id: uuid,
  operation_name: z.string(),
  operation_succeeded: z.boolean().nullable(),
  request_time: z.iso.datetime(),
  api_key_id: nullableUuid,
  user_id: nullableUuid,
  ls_user_id: nullableUuid,
  organization_id: nullableUuid,
  workspace_id: nullableUuid,
  enrichments: z.object({
    request_method: z.string(),
    request_path: z.string(),
    client_host: z.string().nullable(),
    client_port: z.int().nullable(),
    x_forwarded_for: z.string().nullable(),
    response_status_code: z.int().nullable(),
    resource_ids: z.array(z.string()).nullable(),
  }),
});

/** Contract: GET /api/v1/audit-logs. API Activity (6003) of OCSF 1.7, https://schema.ocsf.io. */
export const OcsfApiActivity = z
  .object({
    class_uid: z.literal(6003),
    class_name: z.literal("API Activity"),
    category_uid: z.literal(6),
    category_name: z.literal("Application Activity"),
    severity_id: z.literal(99),
    type_uid: z.int(),
    activity_id: z.int(),
    activity_name: z.string(),
    status_id: z.int(),
    status: z.string(),
    time: z.int().describe("Milliseconds since 1970"),
    metadata: z.object({ uid: uuid, product: z.object({ name: z.string(), vendor_name: z.string() }) }),
    api: z.object({ operation: z.string() }),
    http_request: z.object({ http_method: z.string(), url: z.object({ path: z.string() }) }),
    http_response: z.object({ code: z.int().nullable() }),
    actor: z.object({ user: z.object({ uid: nullableUuid, credential_uid: nullableUuid }) }),
    src_endpoint: z.object({
      ip: z.string().nullable(),
      port: z.int().nullable(),
      intermediate_ips: z.array(z.string()).nullable(),
    }),
    resources: z.array(z.object({ uid: uuid })),
    unmapped: z.object({
      original_audit_log: AuditLogMessage,
      // fields without a counterpart in the standard
      actor_kind: z.string(),
      actor_name: z.string(),
      target: z.record(z.string(), z.string()),
      occurrences: z.int().describe("Number of rejected attempts that this line combines"),
      request_id: z.string().nullable(),
    }),
  })
  .meta({ id: "OCSFApiActivity" });

export type OcsfApiActivity = z.output<typeof OcsfApiActivity>;

export const AuditPage = z
  .object({ cursor: z.string().nullable(), items: z.array(OcsfApiActivity) })
  .meta({ id: "ListAuditLogsOCSFResponse" });
