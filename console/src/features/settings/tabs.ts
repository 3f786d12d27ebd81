export const SETTINGS_TABS = [
  "workspaces",
  "members",
  "roles",
  "keys",
  "models",
  "prompts",
  "webhooks",
  "limits",
  "audit",
  "account",
] as const;
export type SettingsTab = (typeof SETTINGS_TABS)[number];
