import { Readable } from "node:stream";

import { z } from "zod";

import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";

export function attachmentRoutes({ blobs, links }: TraceDeps): Route[] {
  return [
    route({
      ...v1("/attachments/:token"),
      method: "GET",
      permission: "public",
      publicBecause: "the link is signed and expires; the SDKs open it without a key",
      tag: "Runs",
      summary: "Get an attachment's content by the signed link in its run",
      params: z.object({ token: z.string().max(8192) }),
      out: { 200: "application/octet-stream" },
      errors: [404],
      async handler({ params }) {
        const target = links.verify(params.token);
        const blob = target && (await blobs.read(target.blob));
        if (!target || !blob)
          throw notFound("This link is invalid or has expired. Fetch the run again to get a new one.");
        return new Response(Readable.toWeb(blob.content) as ReadableStream, {
          headers: {
            "Content-Type": target.mime_type,
            "Content-Length": String(blob.size),
            // uploaded HTML must not run in this origin
            "Content-Disposition": `attachment; filename*=UTF-8''${encodeURIComponent(target.name)}`,
            "Content-Security-Policy": "sandbox",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "private, max-age=1800",
          },
        });
      },
    }),
  ];
}
