import type { Route } from "../../base/http/route.ts";
import type { HttpSection } from "../project/http-schema.ts";

type Switch = `disable_${"assistants" | "threads" | "runs" | "store" | "meta" | "mcp" | "a2a" | "ui" | "webhooks"}`;

/** Switches of langgraph.json by path; the first match counts. The probes always answer. */
const FAMILIES: [RegExp, Switch][] = [
  [/^\/threads?\/[^/]+\/(runs|commands|stream)\b|^\/runs\b/, "disable_runs"],
  [/^\/threads?\b/, "disable_threads"],
  [/^\/assistants\b/, "disable_assistants"],
  [/^\/store\b/, "disable_store"],
  [/^\/mcp\b/, "disable_mcp"],
  [/^\/a2a\b|^\/\.well-known\/agent-card/, "disable_a2a"],
  [/^\/ui\b/, "disable_ui"],
  [/^\/webhooks?\b/, "disable_webhooks"],
  [/^\/(info|docs|metrics|openapi\.json)?$/, "disable_meta"],
];

/** The routes that langgraph.json does not switch off. */
export const enabledRoutes = <R extends Route>(routes: R[], http: HttpSection): R[] =>
  routes.filter(({ path }) => {
    const family = FAMILIES.find(([pattern]) => pattern.test(path));
    return family === undefined || !http[family[1]];
  });
