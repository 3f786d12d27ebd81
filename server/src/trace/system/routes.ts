import { z } from "zod";

import { v1 } from "../../base/http/aliases.ts";
import { docsPage } from "../../base/http/docs-page.ts";
import { queryFlag } from "../../base/http/fields.ts";
import { htmlPage, inlineBlocks } from "../../base/http/html-page.ts";
import { openApiDocument } from "../../base/http/openapi.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import { readVersion } from "../../base/version.ts";
import type { TraceDeps } from "../deps.ts";
import { GUIDES } from "./guide-routes.ts";
import { checkHealth } from "./health.ts";
import { API_LEVEL, health, info } from "./schema.ts";

const shared = { tag: "System", permission: "public" } as const;

/** `others`: the endpoints that the document describes besides these. */
export function systemRoutes(deps: TraceDeps, others: Route[]): Route[] {
  const { registry } = deps.metrics;
  const version = readVersion();
  const blocks = inlineBlocks(docsPage);
  let document: string | undefined;

  const routes: Route[] = [
    route({
      ...shared,
      ...v1("/ok"),
      publicBecause: "a probe knows no key",
      method: "GET",
      summary: "Health; with check_db that of the stores too",
      query: z.object({ check_db: queryFlag }),
      out: { 200: health },
      handler: async ({ query, c }) =>
        c.json(query.check_db ? { ok: true, checks: await checkHealth(deps) } : { ok: true }),
    }),
    route({
      ...shared,
      ...v1("/info/health"),
      publicBecause: "a probe knows no key",
      method: "GET",
      summary: "Health of the server and of its stores",
      out: { 200: health },
      handler: async ({ c }) => c.json({ ok: true, checks: await checkHealth(deps) }),
    }),
    route({
      ...shared,
      ...v1("/info"),
      publicBecause: "clients ask it for abilities before they have a key",
      method: "GET",
      summary: "Version and abilities of this server",
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
            // an older way of the one above, which no client needs that knows that one
            examples_multipart_enabled: false,
            ch_query_enabled: true,
            sdb_query_enabled: false,
          },
          customer_info: null,
          sdk_versions: null,
          heddle_version: version,
        }),
    }),
    route({
      ...shared,
      publicBecause: "it describes what anybody can read in the repository, and holds no data",
      method: "GET",
      path: "/openapi.json",
      aliases: ["/api/v1/openapi.json"],
      summary: "This document",
      out: { 200: z.looseObject({ openapi: z.string() }) },
      handler() {
        const description =
          "Traces of runs, projects, feedback and datasets. Each endpoint also answers without its prefix /api/v1.";
        const guides = Object.entries(GUIDES).map(([name, title]) => ({ title, url: `/docs/${name}` }));
        const about = { title: "Heddle trace platform", version, description, guides };
        const manners = { errors: deps.settings.errors, limited: deps.rateLimits.mode !== "off" };
        document ??= JSON.stringify(openApiDocument([...others, ...routes], about, manners));
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
      out: { 200: "text/plain" },
      handler: async ({ c }) => c.body(await registry.metrics(), 200, { "Content-Type": registry.contentType }),
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
        if (c.req.header("accept")?.includes("text/html")) return c.redirect("/docs");
        return c.json({ name: "heddle", version, docs: "/docs", openapi: "/openapi.json" });
      },
    }),
  ];
  return routes;
}
