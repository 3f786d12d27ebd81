import type { Context } from "hono";

import { type Part, readMultipart } from "../ingest/read-multipart.ts";

/** Parses the parts of a request, whose size is already limited. @throws 400 and 415 */
export const readParts = async (c: Context): Promise<Part[]> =>
  readMultipart(c.req.header("content-type") ?? "", Buffer.from(await c.req.arrayBuffer()));
