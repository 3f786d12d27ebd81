export const SETTINGS_TABS = [
  "workspaces",
  "members",
  "roles",
  "keys",
  "models",
  "prompts",
  "webhooks",
  "masking",
  "limits",
  "audit",
  "account",
] as const;
export type SettingsTab = (typeof SETTINGS_TABS)[number];

/** Titles of the tabs, which the palette lists too. */
export const SETTINGS_TITLES: Record<SettingsTab, string> = {
  workspaces: "Workspaces",
  members: "Members",
  roles: "Roles",
  keys: "API keys",
  models: "Models",
  prompts: "Prompts",
  webhooks: "Prompt webhooks",
  masking: "Masking",
  limits: "Rate limits",
  audit: "Audit log",
  account: "Account",
};
