import { isUuid } from "../../base/ids.ts";
import type { OcsfApiActivity } from "./schema.ts";
import { type AuditRow, UNKNOWN_OUTCOME } from "./sql.ts";

const ACTIVITIES: [RegExp, number, string][] = [
  [/^(create|add|invite)_/, 1, "Create"],
  [/^(get|list|read|query)_/, 2, "Read"],
  [/^(update|rename)_/, 3, "Update"],
  [/^delete_/, 4, "Delete"],
];

const OTHER = [null, 99, "Other"] as const;

/** Converts an entry to an API Activity of OCSF 1.7, the format of the contract and of log collectors. */
export function toOcsf(row: AuditRow): OcsfApiActivity {
  const [, activity, activityName] = ACTIVITIES.find(([pattern]) => pattern.test(row.operation_name)) ?? OTHER;
  const known = row.status !== UNKNOWN_OUTCOME;
  const succeeded = known && row.status < 400;
  const code = known ? row.status : null;
  const [method = "", path = ""] = row.operation.split(/ (.*)/s, 2);
  const isRequest = path.startsWith("/");
  const resources = [...new Set(Object.values(row.target).filter(isUuid))];
  const keyId = row.actor_kind.endsWith("_key") && isUuid(row.actor_id) ? row.actor_id : null;
  const userId = row.user_id !== null && isUuid(row.user_id) ? row.user_id : null;
  return {
    class_uid: 6003,
    class_name: "API Activity",
    category_uid: 6,
    category_name: "Application Activity",
    severity_id: 99,
    type_uid: 600_300 + activity,
    activity_id: activity,
    activity_name: activityName,
    status_id: succeeded ? 1 : known ? 2 : 0,
    status: succeeded ? "Success" : known ? "Failure" : "Unknown",
    time: row.at.getTime(),
    metadata: { uid: row.id, product: { name: "Heddle", vendor_name: "Heddle" } },
    api: { operation: row.operation_name },
    http_request: { http_method: isRequest ? method : "", url: { path: isRequest ? path : "" } },
    http_response: { code },
    actor: { user: { uid: userId, credential_uid: keyId } },
    src_endpoint: { ip: row.ip || null, port: null, intermediate_ips: null },
    resources: resources.map((uid) => ({ uid })),
    unmapped: {
      original_audit_log: {
        id: row.id,
        operation_name: row.operation_name,
        operation_succeeded: known ? succeeded : null,
        request_time: row.at.toISOString(),
        api_key_id: keyId,
        user_id: userId,
        ls_user_id: userId,
        organization_id: row.organization_id,
        workspace_id: row.workspace_id,
        enrichments: {
          request_method: isRequest ? method : "",
          request_path: isRequest ? path : row.operation,
          client_host: row.ip || null,
          client_port: null,
          x_forwarded_for: null,
          response_status_code: code,
          resource_ids: resources,
        },
      },
      actor_kind: row.actor_kind,
      actor_name: row.actor_name,
      target: row.target,
      occurrences: row.occurrences,
      request_id: row.request_id,
    },
  };
}
