import type { Sql } from "../../base/db/connect.ts";
import type { Expression } from "../filter/expression.ts";
import { projectsOfTier } from "../project-records/sql.ts";
import type { RunScope } from "./run-scope.ts";
import type { RunSelection } from "./selection.ts";

/**
 * Resolves default tiers for filters on `trace_tier`. A run without a tier has its project's, else the installation's,
 * and is serialized that way; projects are in Postgres. Selections without such filters keep their scope, without a
 * query.
 */
export async function loadTiers(
  { sql, settings }: { sql: Sql; settings: { traceTier: string } },
  scope: RunScope,
  { filters = [], trace_filter, tree_filter }: RunSelection,
): Promise<RunScope> {
  const expressions = [...filters, trace_filter, tree_filter];
  if (!expressions.some((expression) => expression !== undefined && mentionsTier(expression))) return scope;
  const usual = settings.traceTier;
  const other = usual === "longlived" ? "shortlived" : "longlived";
  return scope.withTiers({ usual, other, projects: await projectsOfTier(sql, scope.tenantId, other) });
}

function mentionsTier(expression: Expression): boolean {
  if (expression.kind === "and" || expression.kind === "or") return expression.items.some(mentionsTier);
  if (expression.kind === "not") return mentionsTier(expression.item);
  return expression.kind === "field" && expression.field.name === "trace_tier";
}
