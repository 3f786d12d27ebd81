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
