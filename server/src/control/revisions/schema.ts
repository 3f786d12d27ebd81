import { z } from "zod";

import { queryBoolean, queryLimit, queryOffset, uuid } from "../../base/http/fields.ts";
import { STATUSES } from "./status.ts";

export const revisionParams = z.object({ deployment_id: uuid, revision_id: uuid });

/** Several statuses, separated by commas. */
const statusList = z
  .string()
  .transform((text) => text.split(","))
  .pipe(z.array(z.enum(STATUSES)))
  .optional();

export const listQuery = z.object({
  limit: queryLimit(20, 100),
  offset: queryOffset,
  status: statusList,
  remote_reconciled: queryBoolean,
});
