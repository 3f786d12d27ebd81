export const DEPLOYMENT_TABS = ["revisions", "logs", "instances", "environment", "resources"] as const;
export type DeploymentTab = (typeof DEPLOYMENT_TABS)[number];

export const LOG_KINDS = ["build", "deploy"] as const;
export type LogKind = (typeof LOG_KINDS)[number];
