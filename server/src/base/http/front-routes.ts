import type { Registry } from "prom-client";
import { z } from "zod";

import { docsPage } from "./docs-page.ts";
import { htmlPage, inlineBlocks } from "./html-page.ts";
import { rawJson, route, type Route } from "./route.ts";

export interface Front {
  /** Of the product, for the signpost. */
  version: string;
  registry: Registry;
  /** The OpenAPI document; asked for once. */
  document(): object;
  /** Where the document is, besides `/openapi.json`. */
  aliases?: string[];
  /** What stands before every path of this space, for links. */
  prefix?: string;
}

const shared = { tag: "System", permission: "public", method: "GET" } as const;

/** What every space says of itself to anybody: its document, as JSON and as a page, its figures, where to look. */
export function frontRoutes({ version, registry, document, aliases = [], prefix = "" }: Front): Route[] {
  const blocks = inlineBlocks(docsPage);
  // one buffer for all answers: readers that don't read hold no copies
  let text: Buffer | undefined;
  let figures: Promise<string> | undefined;
  /** Requests that come while figures are collected share them. */
  const collect = () => (figures ??= registry.metrics().finally(() => (figures = undefined)));
  return [
    route({
      ...shared,
      publicBecause: "it describes what anybody can read in the repository, and holds no data",
      path: "/openapi.json",
      aliases,
      summary: "This document",
      out: { 200: z.looseObject({ openapi: z.string() }) },
      handler: () => rawJson((text ??= Buffer.from(JSON.stringify(document())))),
    }),
    route({
      ...shared,
      publicBecause: "the page shows the public document; what it sends bears the reader's own key",
      path: "/docs",
      summary: "This document as a page",
      out: { 200: "text/html" },
      handler: () => htmlPage(docsPage, blocks),
    }),
    route({
      ...shared,
      publicBecause: "a scraper knows no key; figures only, no names and no contents",
      path: "/metrics",
      summary: "Figures for monitoring",
      query: z.object({ format: z.enum(["prometheus", "json"]).optional() }),
      out: { 200: ["text/plain", z.array(z.looseObject({ name: z.string() }))] },
      async handler({ query, c }) {
        if (query.format === "json") return c.json(await registry.getMetricsAsJSON());
        return c.body(await collect(), 200, { "Content-Type": registry.contentType });
      },
    }),
    route({
      ...shared,
      publicBecause: "a signpost to public pages",
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
}
