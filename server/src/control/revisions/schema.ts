import { z } from "zod";

import { queryBoolean, queryLimit, queryOffset, uuid } from "../../base/http/fields.ts";
import { SOURCES, sourceRevisionConfigOut } from "../deployment-records/schema.ts";
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

export const revision = z
  .object({
    id: z.string(),
    created_at: z.string(),
    updated_at: z.string(),
    status: z.enum(STATUSES),
    status_message: z.string().nullable(),
    source: z.enum(SOURCES),
    source_revision_config: sourceRevisionConfigOut,
  })
  .meta({ id: "Revision" });
export type Revision = z.output<typeof revision>;

export const revisionsList = z.object({ resources: z.array(revision), offset: z.int() });
