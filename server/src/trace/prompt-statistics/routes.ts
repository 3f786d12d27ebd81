import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import { selectWorkspace } from "../../identity/workspaces/sql.ts";
import type { TraceDeps } from "../deps.ts";
import { readablePrompt } from "../prompts/find-prompt.ts";
import { RunScope } from "../runs/run-scope.ts";
import { readStatistics } from "./read-statistics.ts";
import * as schema from "./schema.ts";

/** Statistics of the caller's runs by commit of a prompt, which may be a public one of another workspace. */
export function promptStatisticsRoutes(deps: TraceDeps): Route[] {
  return [
    route({
      ...v1("/repos/:owner/:repo/statistics"),
      method: "GET",
      tag: "Prompts",
      permission: "runs:read",
      summary: "Get statistics of the traces in which a prompt occurs, by commit",
      params: schema.params,
      query: schema.query,
      out: { 200: schema.statistics },
      async handler({ c, principal, params, query }) {
        const prompt = await readablePrompt(deps.sql, principal, params);
        const handle = (await selectWorkspace(deps.sql, prompt.tenant_id))?.tenant_handle;
        const owners = [...(prompt.tenant_id === principal.workspaceId ? ["-"] : []), ...(handle ? [handle] : [])];
        const repo = prompt.repo_handle;
        return c.json({ commits: await readStatistics(deps, RunScope.of(principal), { owners, repo }, query) });
      },
    }),
  ];
}
