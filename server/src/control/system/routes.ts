import { z } from "zod";

import { uuid } from "../../base/http/fields.ts";
import { frontRoutes } from "../../base/http/front-routes.ts";
import { answerUnhealthy, probeRoutes, unhealthy } from "../../base/http/health-routes.ts";
import { openApiDocument } from "../../base/http/openapi.ts";
import { route, type Route } from "../../base/http/route.ts";
import { readVersion } from "../../base/version.ts";
import { hosted } from "../api-host.ts";
import type { ControlDeps } from "../deps.ts";

const shared = { tag: "System", permission: "public" } as const;

/** Version of the API's document, which clients were written against. */
const API_VERSION = "0.1.0";

/** `others`: endpoints that the document describes in addition to these. */
export function systemRoutes(deps: ControlDeps, others: Route[]): Route[] {
  const routes: Route[] = [
    route({
      ...shared,
      ...hosted("/ok"),
      publicBecause: "probes have no key",
      method: "GET",
      summary: "Check liveness: fails when a component has failed for longer than the grace period",
      out: { 200: z.object({ ok: z.literal(true) }), 503: unhealthy },
      handler({ c }) {
        const alive = deps.health.alive();
        return alive.ok ? c.json({ ok: true }) : answerUnhealthy(c, alive);
      },
    }),
    ...probeRoutes(deps.health, (path) => hosted(path)),
    route({
      ...shared,
      ...hosted("/info"),
      publicBecause: "clients read the capabilities before they have a key",
      method: "GET",
      summary: "Get the version and capabilities of this server",
      out: {
        200: z.object({
          version: z.string(),
          installation: z.string(),
          sources: z.array(z.string()),
          process_isolation: z
            .enum(["bubblewrap", "user", "none"])
            .nullable()
            .describe("How deployments that run as processes are isolated; null if they run in containers"),
        }),
      },
      handler: ({ c }) =>
        c.json({
          version: readVersion(),
          installation: deps.settings.installation,
          sources: [...deps.driver.sources],
          process_isolation: deps.driver.kind === "process" ? (deps.driver.isolation?.kind ?? null) : null,
        }),
    }),
    route({
      ...shared,
      ...hosted("/o/:tenant_id/host/deployments/:deployment_id"),
      publicBecause: "command-line clients print it for people to open; it reveals only the console's address",
      method: "GET",
      summary: "Redirect to a deployment's page in the console",
      params: z.object({ tenant_id: uuid, deployment_id: uuid }),
      out: { 302: null },
      handler({ params, c }) {
        const console = deps.settings.consoleUrl.replace(/\/+$/, "");
        return c.redirect(`${console}/deployments/${params.deployment_id}`);
      },
    }),
    ...frontRoutes({
      version: readVersion(),
      aliases: hosted("/openapi.json").aliases,
      registry: deps.metrics.registry,
      document() {
        const description = "Deployments of graph projects. Each endpoint is also available under /api-host.";
        const about = { title: "Heddle control plane", version: API_VERSION, description };
        const conventions = { errors: deps.settings.errors, limited: false };
        return openApiDocument([...others, ...routes], about, conventions);
      },
    }),
  ];
  return routes;
}
