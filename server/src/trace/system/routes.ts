import { z } from "zod";

import { v1 } from "../../base/http/aliases.ts";
import { queryFlag } from "../../base/http/fields.ts";
import { frontRoutes } from "../../base/http/front-routes.ts";
import { answerUnhealthy, probeRoutes, unhealthy } from "../../base/http/health-routes.ts";
import { openApiDocument } from "../../base/http/openapi.ts";
import { route, type Route } from "../../base/http/route.ts";
import { readVersion } from "../../base/version.ts";
import type { TraceDeps } from "../deps.ts";
import { GUIDES } from "./guide-routes.ts";
import { checkStores } from "./health.ts";
import { API_LEVEL, health, info } from "./schema.ts";

const shared = { tag: "System", permission: "public" } as const;

/** `others` are the endpoints that the document describes in addition to these. */
export function systemRoutes(deps: TraceDeps, others: Route[]): Route[] {
  const version = readVersion();

  const routes: Route[] = [
    route({
      ...shared,
      ...v1("/ok"),
      publicBecause: "probes have no key",
      method: "GET",
      summary:
        "Check liveness: fails when a component has failed for longer than the grace period; with check_db, also " +
        "checks the stores",
      query: z.object({ check_db: queryFlag }),
      out: { 200: health, 503: unhealthy },
      async handler({ query, c }) {
        if (query.check_db) return c.json({ ok: true, checks: await checkStores(deps.health) });
        const alive = deps.health.alive();
        return alive.ok ? c.json({ ok: true }) : answerUnhealthy(c, alive);
      },
    }),
    ...probeRoutes(deps.health, v1),
    route({
      ...shared,
      ...v1("/info/health"),
      publicBecause: "probes have no key",
      method: "GET",
      summary: "Check the health of the server and its stores",
      out: { 200: health },
      handler: async ({ c }) => c.json({ ok: true, checks: await checkStores(deps.health) }),
    }),
    route({
      ...shared,
      ...v1("/info"),
      publicBecause: "clients read the capabilities before they have a key",
      method: "GET",
      summary: "Get the version and capabilities of this server",
      out: { 200: info },
      handler: ({ c }) =>
        c.json({
          version: API_LEVEL,
          git_sha: "",
          license_expiration_time: null,
          batch_ingest_config: {
            use_multipart_endpoint: true,
            scale_up_qsize_trigger: 1000,
            scale_up_nthreads_limit: 16,
            scale_down_nempty_trigger: 4,
            size_limit: 100,
            size_limit_bytes: Math.min(20 * 1024 * 1024, deps.settings.maxBodyBytes),
          },
          instance_flags: {
            gzip_body_enabled: true,
            zstd_compression_enabled: true,
            dataset_examples_multipart_enabled: true,
            // superseded by the flag above; clients that know that flag do not need this one
            examples_multipart_enabled: false,
            ch_query_enabled: true,
            sdb_query_enabled: false,
          },
          customer_info: null,
          sdk_versions: null,
          heddle_version: version,
        }),
    }),
    // clients of a platform that is not on localhost build these links from its URL
    ...[
      "/o/:tenant_id/:page{[\\s\\S]+}",
      "/public/:share_token/r",
      "/public/:share_token/d",
      "/prompts/:repo",
      "/prompts/:repo/:commit",
    ].map((path) =>
      route({
        ...shared,
        path,
        publicBecause: "it only redirects browsers to the console, which authenticates them",
        method: "GET",
        summary: "Redirect a link that a client printed to the console's page",
        out: { 302: null },
        handler({ c }) {
          const { pathname, search } = new URL(c.req.url);
          return c.redirect(deps.settings.consoleUrl.replace(/\/$/, "") + pathname + search);
        },
      }),
    ),
    ...frontRoutes({
      version,
      aliases: ["/api/v1/openapi.json"],
      registry: deps.metrics.registry,
      document() {
        const description =
          "Traces of runs, projects, feedback and datasets. Each endpoint is also available without its prefix " +
          "/api/v1.";
        const guides = Object.entries(GUIDES).map(([name, title]) => ({ title, url: `/docs/${name}` }));
        const about = { title: "Heddle trace platform", version, description, guides };
        const conventions = { errors: deps.settings.errors, limited: deps.rateLimits.mode !== "off" };
        return openApiDocument([...others, ...routes], about, conventions);
      },
    }),
  ];
  return routes;
}
