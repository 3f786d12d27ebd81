import type { Sql } from "../../base/db/connect.ts";
import type { Expression } from "../filter/expression.ts";
import type { ProjectDirectory } from "../projects/project-directory.ts";
import { projectsOfTier } from "../projects/sql.ts";
import type { RunScope } from "./run-scope.ts";
import type { RunSelection } from "./selection.ts";

type Filters = Pick<RunSelection, "filters" | "trace_filter" | "tree_filter">;

/**
 * Loads what statements need of the projects, which are in Postgres: from when on runs are incomplete, which is cached,
 * and for filters on `trace_tier` the default tiers. A run without a tier has its project's, else the installation's,
 * and is serialized that way.
 */
export async function loadScope(
  { sql, settings, projects }: { sql: Sql; projects: ProjectDirectory; settings: { traceTier: string } },
  scope: RunScope,
  { filters = [], trace_filter, tree_filter }: Filters = {},
): Promise<RunScope> {
  const known = scope.withIncompleteHours(await projects.incompleteHours(scope.tenantId));
  const expressions = [...filters, trace_filter, tree_filter];
  if (!expressions.some((expression) => expression !== undefined && mentionsTier(expression))) return known;
  const usual = settings.traceTier;
  const other = usual === "longlived" ? "shortlived" : "longlived";
  return known.withTiers({ usual, other, projects: await projectsOfTier(sql, scope.tenantId, other) });
}

function mentionsTier(expression: Expression): boolean {
  if (expression.kind === "and" || expression.kind === "or") return expression.items.some(mentionsTier);
  if (expression.kind === "not") return mentionsTier(expression.item);
  return expression.kind === "field" && expression.field.name === "trace_tier";
}
