import { z } from "zod";

import { queryBoolean, queryLimit, queryOffset, uuid } from "../../base/http/fields.ts";
import { SOURCES, sourceRevisionConfigOut } from "../deployments/schema.ts";
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
    number: z.int().describe("Counts the revisions of the deployment, from 1"),
    created_by: z
      .string()
      .nullable()
      .describe("Name of the caller who made it; null for revisions of versions before 0.8"),
    redeploy_of: z.string().nullable().describe("Earlier revision that it deploys again: a rollback"),
    finished_at: z.string().nullable().describe("When its deployment ended, well or not; null before"),
    created_at: z.string(),
    updated_at: z.string(),
    status: z.enum(STATUSES),
    status_message: z.string().nullable(),
    source: z.enum(SOURCES),
    source_revision_config: sourceRevisionConfigOut,
    made_from: z
      .object({
        resource_spec: z.record(z.string(), z.unknown()).nullable(),
        install_command: z.string().nullable(),
        build_command: z.string().nullable(),
        variables: z.array(z.string()).nullable().describe("Names; null for revisions of versions before 0.7"),
        variable_changes: z
          .object({ added: z.array(z.string()), changed: z.array(z.string()), removed: z.array(z.string()) })
          .nullable()
          .describe("Names that differ from the revision before; null for revisions of versions before 0.7"),
      })
      .describe("What the revision was made from besides its source"),
  })
  .meta({ id: "Revision" });
export type Revision = z.output<typeof revision>;

export const revisionsList = z.object({ resources: z.array(revision), offset: z.int() });
