import { z } from "zod";

import { jsonObject } from "../../base/http/fields.ts";

export const initializeParams = z.object({ protocolVersion: z.string() }).loose();
export const listParams = z.object({ cursor: z.string().nullish() }).loose();
export const callParams = z.object({ name: z.string(), arguments: jsonObject.nullish() }).loose();
