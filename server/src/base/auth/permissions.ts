/**
 * Permissions of callers, as `resource:verb`. A single list for all address spaces,
 * because roles span them. A read-only key keeps the permissions that end in `:read`.
 *
 * `scope`: whether the permission applies to a workspace or to the whole organization.
 */
export const PERMISSIONS = {
  "assistants:read": { scope: "workspace", description: "View assistants, their versions, schemas and graphs" },
  "assistants:write": { scope: "workspace", description: "Create, change and delete assistants" },
  "threads:read": { scope: "workspace", description: "View threads, their state and history" },
  "threads:write": { scope: "workspace", description: "Create, change and delete threads and their state" },
  "runs:read": { scope: "workspace", description: "View and join runs, view traces" },
  "runs:create": { scope: "workspace", description: "Start and cancel runs, send traces" },
  "runs:delete": { scope: "workspace", description: "Delete runs and traces" },
  "runs:share": { scope: "workspace", description: "Share a trace by a public link" },
  "store:read": { scope: "workspace", description: "Read items of the store" },
  "store:write": { scope: "workspace", description: "Write and delete items of the store" },
  "crons:read": { scope: "workspace", description: "View crons" },
  "crons:write": { scope: "workspace", description: "Create, change and delete crons" },
  "projects:read": { scope: "workspace", description: "View tracing projects" },
  "projects:create": { scope: "workspace", description: "Create tracing projects" },
  "projects:update": { scope: "workspace", description: "Change tracing projects" },
  "projects:delete": { scope: "workspace", description: "Delete tracing projects" },
  "feedback:read": { scope: "workspace", description: "View feedback" },
  "feedback:create": { scope: "workspace", description: "Submit feedback and issue feedback links" },
  "feedback:update": { scope: "workspace", description: "Update feedback" },
  "feedback:delete": { scope: "workspace", description: "Delete feedback" },
  "datasets:read": { scope: "workspace", description: "View datasets, examples and experiments" },
  "datasets:create": { scope: "workspace", description: "Create datasets and examples" },
  "datasets:update": { scope: "workspace", description: "Change datasets and examples" },
  "datasets:delete": { scope: "workspace", description: "Delete datasets and examples" },
  "prompts:read": { scope: "workspace", description: "View and pull prompts, their commits and tags" },
  "prompts:create": { scope: "workspace", description: "Create and fork prompts" },
  "prompts:update": { scope: "workspace", description: "Change prompts and commit to them" },
  "prompts:delete": { scope: "workspace", description: "Delete prompts" },
  "prompts:tag": { scope: "workspace", description: "Create, move and delete tags of prompts" },
  "annotation-queues:read": { scope: "workspace", description: "View annotation queues, their progress and agreement" },
  "annotation-queues:create": { scope: "workspace", description: "Create annotation queues" },
  "annotation-queues:update": {
    scope: "workspace",
    description: "Change annotation queues, add runs to them and review",
  },
  "annotation-queues:delete": { scope: "workspace", description: "Delete annotation queues" },
  "rules:read": { scope: "workspace", description: "View automation rules and alerts, and their logs" },
  "rules:create": { scope: "workspace", description: "Create automation rules and alerts" },
  "rules:update": {
    scope: "workspace",
    description: "Change automation rules and alerts, trigger rules and start back-fills",
  },
  "rules:delete": { scope: "workspace", description: "Delete automation rules and alerts" },
  "evaluators:read": {
    scope: "workspace",
    description: "View evaluators, their versions and their agreement with people",
  },
  "evaluators:create": { scope: "workspace", description: "Create evaluators and try them on runs" },
  "evaluators:update": { scope: "workspace", description: "Change evaluators and judge experiments by them" },
  "evaluators:delete": { scope: "workspace", description: "Delete evaluators" },
  "charts:read": { scope: "workspace", description: "View dashboards, with statistics of all runs" },
  "charts:create": { scope: "workspace", description: "Create dashboards and charts" },
  "charts:update": { scope: "workspace", description: "Change dashboards and charts" },
  "charts:delete": { scope: "workspace", description: "Delete dashboards and charts" },
  "bulk-exports:read": { scope: "workspace", description: "View exports and their destinations" },
  "bulk-exports:manage": {
    scope: "workspace",
    description: "Create and cancel exports, create and delete destinations",
  },
  "models:read": { scope: "workspace", description: "View model connections, names of secrets and the model budget" },
  "models:call": { scope: "workspace", description: "Call models in the playground, which costs money" },
  "models:manage": {
    scope: "workspace",
    description: "Manage model connections, secrets and the model budget",
  },
  "deployments:read": { scope: "workspace", description: "View deployments, revisions and logs" },
  "deployments:create": { scope: "workspace", description: "Create deployments" },
  "deployments:update": { scope: "workspace", description: "Change and redeploy deployments" },
  "deployments:delete": { scope: "workspace", description: "Delete deployments" },
  "workspaces:read": { scope: "workspace", description: "View the workspace and its members" },
  "workspaces:manage": { scope: "workspace", description: "Manage the workspace: members, keys, exports, secrets" },
  "audit:read": { scope: "workspace", description: "View and export the audit log" },
  "organization:pats:create": { scope: "organization", description: "Create and revoke one's own personal keys" },
  "organization:read": { scope: "organization", description: "View the organization, its workspaces and roles" },
  "organization:manage": { scope: "organization", description: "Manage the organization: workspaces, roles, members" },
} as const satisfies Record<string, { scope: "workspace" | "organization"; description: string }>;

export type Permission = keyof typeof PERMISSIONS;

export const ALL_PERMISSIONS = Object.keys(PERMISSIONS) as Permission[];

/** Whether a read-only caller keeps this permission. */
export const isReading = (permission: Permission): boolean => permission.endsWith(":read");
