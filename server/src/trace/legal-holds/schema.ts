import { z } from "zod";

import { uuid } from "../../base/http/fields.ts";

export const newHold = z.strictObject({
  session_id: uuid.nullish().meta({ description: "The project; absent: the whole workspace." }),
  reason: z.string().trim().min(1).max(2000),
});

export const hold = z
  .object({
    id: z.guid(),
    session_id: z.guid().nullable(),
    reason: z.string(),
    created_by: z.string(),
    created_at: z.string(),
    released_by: z.string().nullable(),
    released_at: z.string().nullable(),
  })
  .meta({ id: "LegalHold" });

export const holdParams = z.object({ hold_id: uuid });
export const listQuery = z.object({ active: z.stringbool().optional() });
