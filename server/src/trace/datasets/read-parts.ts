import type { Context } from "hono";

import { type Part, readMultipart } from "../ingest/read-multipart.ts";

/** The parts of a request. Its size was limited before. @throws 400 and 415 */
export const readParts = async (c: Context): Promise<Part[]> =>
  readMultipart(c.req.header("content-type") ?? "", Buffer.from(await c.req.arrayBuffer()));
