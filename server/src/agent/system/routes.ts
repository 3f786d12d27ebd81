import { z } from "zod";

import { docsPage } from "../../base/http/docs-page.ts";
import { htmlPage, inlineBlocks } from "../../base/http/html-page.ts";
import { openApiDocument } from "../../base/http/openapi.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import { readVersion } from "../../base/version.ts";
import { mountPrefix } from "../custom-app/mount-prefix.ts";
import { withProjectAuth } from "../custom-auth/describe-auth.ts";
import type { AgentDeps } from "../deps.ts";
import { checkHealth } from "./health.ts";
import * as schema from "./schema.ts";

const shared = { tag: "System", permission: "public" } as const;

/** `others`: the endpoints that the document describes besides these. */
export function systemRoutes(deps: AgentDeps, others: Route[]): Route[] {
  const version = readVersion();
  const { registry } = deps.metrics;
  const prefix = mountPrefix(deps);
  let document: string | undefined;
  const blocks = inlineBlocks(docsPage);

  const routes: Route[] = [
    route({
      ...shared,
      publicBecause: "a probe knows no key",
      method: "GET",
      path: "/ok",
      summary: "Health",
      query: schema.okQuery,
      out: { 200: schema.ok },
      handler: async ({ query, c }) =>
        c.json(query.check_db ? { ok: true, checks: await checkHealth(deps) } : { ok: true }),
    }),
    route({
      ...shared,
      publicBecause: "clients ask it for abilities before they have a key",
      method: "GET",
      path: "/info",
      summary: "Version and abilities of this server",
      out: { 200: schema.info },
      handler: ({ c }) =>
        c.json({
          version,
          langgraph_js_version: deps.hosts.langgraphVersion ?? null,
          context: "js",
          // what is built, not what is planned
          flags: {
            assistants: true,
            crons: true,
            webhooks: !deps.project.webhooks.disabled,
            langsmith: deps.hosts.traces,
            // the project and the example of a request's langsmith_tracer get the trace
            langsmith_tracing_replicas: deps.hosts.traces,
          },
          metadata: { server: "heddle" },
        }),
    }),
    route({
      ...shared,
      publicBecause: "it describes what anybody can read in the repository, and holds no data",
      method: "GET",
      path: "/openapi.json",
      summary: "This document",
      out: { 200: z.looseObject({ openapi: z.string() }) },
      handler() {
        const description = "Threads, runs and state of LangGraph graphs, kept in Postgres.";
        const info = { title: "Heddle agent server", version, description };
        const manners = { errors: deps.settings.errors, limited: false };
        const described = openApiDocument([...others, ...routes], info, manners);
        document ??= JSON.stringify({
          ...withProjectAuth(described, deps.project.config.auth?.openapi),
          ...(prefix !== "" && { servers: [{ url: prefix }] }),
        });
        return rawJson(document);
      },
    }),
    route({
      ...shared,
      publicBecause: "the page shows the public document; what it sends bears the reader's own key",
      method: "GET",
      path: "/docs",
      summary: "This document as a page",
      out: { 200: "text/html" },
      handler: () => htmlPage(docsPage, blocks),
    }),
    route({
      ...shared,
      publicBecause: "a scraper knows no key; figures only, no names and no contents",
      method: "GET",
      path: "/metrics",
      summary: "Figures for monitoring",
      query: schema.metricsQuery,
      out: { 200: ["text/plain", z.array(z.looseObject({ name: z.string() }))] },
      async handler({ query, c }) {
        if (query.format === "json") return c.json(await registry.getMetricsAsJSON());
        return c.body(await registry.metrics(), 200, { "Content-Type": registry.contentType });
      },
    }),
    route({
      ...shared,
      publicBecause: "a signpost to public pages",
      method: "GET",
      path: "/",
      summary: "Where to look",
      out: {
        200: z.object({ name: z.string(), version: z.string(), docs: z.string(), openapi: z.string() }),
        302: null,
      },
      handler({ c }) {
        if (c.req.header("accept")?.includes("text/html")) return c.redirect(`${prefix}/docs`);
        return c.json({ name: "heddle", version, docs: `${prefix}/docs`, openapi: `${prefix}/openapi.json` });
      },
    }),
  ];
  return routes;
}
