import { z } from "zod";

import { docsPage } from "../../base/http/docs-page.ts";
import { htmlPage, inlineBlocks } from "../../base/http/html-page.ts";
import { openApiDocument } from "../../base/http/openapi.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import { readVersion } from "../../base/version.ts";
import { hosted } from "../api-host.ts";
import type { ControlDeps } from "../deps.ts";

const shared = { tag: "System", permission: "public" } as const;

/** Of the API's document, which clients were written against (service-interface §9.1). */
const API_VERSION = "0.1.0";

/** `others`: the endpoints that the document describes besides these. */
export function systemRoutes(deps: ControlDeps, others: Route[]): Route[] {
  const { registry } = deps.metrics;
  const blocks = inlineBlocks(docsPage);
  let document: string | undefined;

  const routes: Route[] = [
    route({
      ...shared,
      ...hosted("/ok"),
      publicBecause: "a probe knows no key",
      method: "GET",
      summary: "Health",
      out: { 200: z.object({ ok: z.literal(true) }) },
      handler: ({ c }) => c.json({ ok: true }),
    }),
    route({
      ...shared,
      ...hosted("/info"),
      publicBecause: "clients ask it for abilities before they have a key",
      method: "GET",
      summary: "Version and abilities of this server",
      out: { 200: z.object({ version: z.string(), installation: z.string(), sources: z.array(z.string()) }) },
      handler: ({ c }) =>
        c.json({
          version: readVersion(),
          installation: deps.settings.installation,
          sources: [...deps.driver.sources],
        }),
    }),
    route({
      ...shared,
      ...hosted("/openapi.json"),
      publicBecause: "it describes what anybody can read in the repository, and holds no data",
      method: "GET",
      summary: "This document",
      out: { 200: z.looseObject({ openapi: z.string() }) },
      handler() {
        const description = "Deployments of graph projects. Each endpoint also answers below /api-host.";
        const about = { title: "Heddle control plane", version: API_VERSION, description };
        const manners = { errors: deps.settings.errors, limited: false };
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
        return c.json({ name: "heddle", version: readVersion(), docs: "/docs", openapi: "/openapi.json" });
      },
    }),
  ];
  return routes;
}
