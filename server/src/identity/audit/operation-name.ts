/**
 * Returns the contract's name of an operation (`AuditLogOperation` in its document): usually a verb and a noun, derived
 * from method and path. Irregular names are listed. Operations that the contract does not name follow the same rule.
 */
export function operationName(operation: string): string {
  const [method = "", path = ""] = operation.split(" ", 2);
  const verb = VERBS[method];
  if (!verb || !path.startsWith("/")) return EXCEPTIONS[operation] ?? operation.toLowerCase().replace(/\W+/g, "_");
  const plain = path.replace(/^\/api\/v\d+(?=\/)|^\/v\d+(?=\/)/, "");
  const exception = EXCEPTIONS[`${method} ${plain}`];
  if (exception) return exception;
  const parts = plain.split("/").filter((part) => part !== "" && !part.startsWith(":"));
  const last = parts.at(-1) ?? "";
  if (method === "POST" && ACTIONS.has(last)) return named(last, singular(parts.at(-2) ?? ""));
  return named(verb, singular(last));
}

const VERBS: Record<string, string> = {
  GET: "get",
  POST: "create",
  PUT: "update",
  PATCH: "update",
  DELETE: "delete",
};

/** Last path segments that are actions on the object before them. */
const ACTIONS = new Set(
  "cancel clone copy delete disable enable export import latest prune rename restart rotate share test trigger".split(
    " ",
  ),
);

const EXCEPTIONS: Record<string, string> = {
  "POST /login": "login",
  "POST /logout": "logout",
  "POST /api-key/current": "create_personal_access_token",
  "DELETE /api-key/current/:id": "delete_personal_access_token",
  "POST /tenants": "create_workspace",
  "POST /workspaces/current/members": "add_member_to_workspace",
  "PATCH /workspaces/current/members/:id": "update_workspace_member",
  "DELETE /workspaces/current/members/:id": "delete_workspace_member",
  "POST /workspaces/current/secrets": "update_workspace_secrets",
  "POST /orgs/current/members": "invite_user_to_org",
  "PATCH /orgs/current/members/:id": "update_org_member",
  "DELETE /orgs/current/members/:id": "delete_org_member",
  "PATCH /orgs/current": "update_organization_info",
  "PATCH /orgs/current/info": "update_organization_info",
  "POST /sessions": "create_tracer_session",
  "PATCH /sessions/:id": "update_tracer_session",
  "DELETE /sessions/:id": "delete_tracer_session",
  "DELETE /sessions": "delete_tracer_sessions",
  "POST /runs/delete": "delete_runs",
  "POST /examples/bulk": "create_examples",
  "POST /bulk-exports/destinations": "create_bulk_export_destination",
  "PATCH /bulk-exports/destinations/:id": "update_bulk_export_destination",
  "PATCH /bulk-exports/:id": "cancel_bulk_export",
  "heddle keys create": "create_api_key",
  "heddle keys revoke": "delete_api_key",
  "heddle users create": "add_basic_auth_users_to_org",
};

const named = (verb: string, thing: string): string => `${verb}_${thing}`.replaceAll("-", "_");

const singular = (word: string): string => word.replace(/ies$/, "y").replace(/(?<!s)s$/, "");
