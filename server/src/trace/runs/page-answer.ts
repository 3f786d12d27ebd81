import type { Context } from "hono";

import { rawJson } from "../../base/http/route.ts";

/**
 * Returns a page of v2: as JSON, or as server-sent events for clients that ask for them (`streaming` of the SDKs). An
 * event is a list of JSON Patch operations (RFC 6902) on the page, initially nothing: here one `data` event adds the
 * whole page, then `end`.
 */
export function answerPage(c: Context, page: string): Response {
  if (!wantsEvents(c.req.header("accept"))) return rawJson(page);
  // stored JSON may have line ends between its tokens, which would end the data
  const events = `event: data\ndata: [{"op":"add","path":"","value":${page.replaceAll(/[\r\n]+/g, " ")}}]\n\nevent: end\ndata: {}\n\n`;
  return new Response(events, { headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store" } });
}

const wantsEvents = (accept: string | undefined): boolean =>
  (accept ?? "").split(",").some((type) => type.split(";")[0]!.trim().toLowerCase() === "text/event-stream");
