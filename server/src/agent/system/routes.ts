import { frontRoutes } from "../../base/http/front-routes.ts";
import { answerUnhealthy, probeRoutes, RETRY_HEALTH } from "../../base/http/health-routes.ts";
import { openApiDocument } from "../../base/http/openapi.ts";
import { route, type Route } from "../../base/http/route.ts";
import { readVersion } from "../../base/version.ts";
import { describedErrors } from "../project/error-format.ts";
import { mountPrefix } from "../project/mount-prefix.ts";
import { withProjectAuth } from "../custom-auth/describe-auth.ts";
import type { AgentDeps } from "../deps.ts";
import { describeParts, missingGraphs } from "./health.ts";
import { langgraphVersions } from "./langgraph-versions.ts";
import * as schema from "./schema.ts";

const shared = { tag: "System", permission: "public" } as const;

/** @param others further endpoints for the OpenAPI document */
export function systemRoutes(deps: AgentDeps, others: Route[]): Route[] {
  const version = readVersion();
  const prefix = mountPrefix(deps);

  const routes: Route[] = [
    route({
      ...shared,
      publicBecause: "probes have no key",
      method: "GET",
      path: "/ok",
      summary:
        "Check liveness: fails when a component has failed for longer than the grace period; with check_db, all " +
        "components; with check_graphs, until every graph has loaded",
      query: schema.okQuery,
      out: { 200: schema.ok, 500: schema.unhealthyParts, 503: schema.unhealthyParts },
      async handler({ query, c }) {
        const { health, hosts } = deps;
        const alive = health.alive();
        const missing = query.check_graphs ? missingGraphs(hosts) : null;
        if (missing !== null) return answerUnhealthy(c, { ok: false, detail: missing, checks: {} });
        if (!query.check_db) return alive.ok ? c.json({ ok: true }) : answerUnhealthy(c, alive);
        const now = await health.ready();
        const checks = describeParts(now, hosts);
        // the database is queried, and its absence is a 500
        const { database } = now.checks;
        if (database?.ok === false) {
          const detail = `The database does not answer: ${database.reason}.`;
          return c.json({ ok: false, detail, checks }, 500, RETRY_HEALTH);
        }
        if (!alive.ok) return c.json({ ok: false, detail: alive.detail, checks }, 503, RETRY_HEALTH);
        return c.json({ ok: true, checks });
      },
    }),
    ...probeRoutes(deps.health),
    route({
      ...shared,
      publicBecause: "clients read the capabilities before they have a key",
      method: "GET",
      path: "/info",
      summary: "Get the version and capabilities of this server",
      out: { 200: schema.info },
      handler: ({ c }) =>
        c.json({
          version,
          ...langgraphVersions(deps),
          // implemented features only
          flags: {
            assistants: true,
            crons: true,
            webhooks: !deps.project.webhooks.disabled,
            langsmith: deps.hosts.traces,
            // a request's langsmith_tracer may name the project and the example that get the trace
            langsmith_tracing_replicas: deps.hosts.traces,
            // the query parameter `namespace` of run streams
            stream_namespaces: true,
          },
          metadata: { server: "heddle" },
        }),
    }),
    ...frontRoutes({
      version,
      prefix,
      registry: deps.metrics.registry,
      document() {
        const description = "Threads, runs and state of LangGraph graphs, kept in Postgres.";
        // routes are in matching order; the document has its own
        const first = ["Assistants", "Threads", "Runs", "Crons"];
        const info = { title: "Heddle agent server", version, description, first };
        const conventions = { errors: describedErrors(deps.settings.errors), limited: false };
        const described = openApiDocument([...others, ...routes], info, conventions);
        return {
          ...withProjectAuth(described, deps.project.config.auth?.openapi),
          ...(prefix !== "" && { servers: [{ url: prefix }] }),
        };
      },
    }),
  ];
  return routes;
}
