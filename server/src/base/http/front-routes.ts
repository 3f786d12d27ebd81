import type { Registry } from "prom-client";
import { z } from "zod";

import { docsPage } from "./docs-page.ts";
import { htmlPage, inlineBlocks } from "./html-page.ts";
import { notFound } from "../errors.ts";
import { FORWARDED_HEADER, internalHeader } from "./internal-headers.ts";
import { rawJson, route, type Route } from "./route.ts";

export interface ServerDescription {
  /** Product version. */
  version: string;
  registry: Registry;
  /** Builds the OpenAPI document; called once. */
  document(): object;
  /** Paths of the document, besides `/openapi.json`. */
  aliases?: string[];
  /** Prefix of this space's paths, for links. */
  prefix?: string;
}

const shared = { tag: "System", permission: "public", method: "GET" } as const;

/** Public routes of every space: its OpenAPI document as JSON and as a page, its metrics, and a signpost. */
export function frontRoutes({ version, registry, document, aliases = [], prefix = "" }: ServerDescription): Route[] {
  const blocks = inlineBlocks(docsPage);
  // one buffer for all responses, so that slow readers hold no copies
  let text: Buffer | undefined;
  let metrics: Promise<string> | undefined;
  /** Collects metrics; concurrent requests share one collection. */
  const collect = () => (metrics ??= registry.metrics().finally(() => (metrics = undefined)));
  return [
    route({
      ...shared,
      publicBecause: "it describes a public API and contains no data",
      path: "/openapi.json",
      aliases,
      summary: "This document",
      out: { 200: z.looseObject({ openapi: z.string() }) },
      handler: () => rawJson((text ??= Buffer.from(JSON.stringify(document())))),
    }),
    route({
      ...shared,
      publicBecause: "the page shows the public document and calls the API with the reader's own key",
      path: "/docs",
      summary: "Get the OpenAPI document as a page",
      out: { 200: "text/html" },
      handler: () => htmlPage(docsPage, blocks),
    }),
    route({
      ...shared,
      publicBecause: "scrapers have no key; the response holds metrics only, no names or contents",
      path: "/metrics",
      summary: "Get metrics for monitoring",
      query: z.object({ format: z.enum(["prometheus", "json"]).optional() }),
      out: { 200: ["text/plain", z.array(z.looseObject({ name: z.string() }))] },
      errors: [404],
      async handler({ query, c }) {
        if (internalHeader(c, FORWARDED_HEADER) !== null)
          throw notFound("Metrics are not served through the gateway or the console.");
        if (query.format === "json") return c.json(await registry.getMetricsAsJSON());
        return c.body(await collect(), 200, { "Content-Type": registry.contentType });
      },
    }),
    route({
      ...shared,
      publicBecause: "it only links to public pages",
      path: "/",
      summary: "Get the server's name, version and links",
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
}
