export const ASSISTANT_TABS = ["now", "versions", "graph", "schemas"] as const;
export type AssistantTab = (typeof ASSISTANT_TABS)[number];
