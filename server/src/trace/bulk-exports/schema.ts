import { z } from "zod";

import { isoTime, jsonObject, queryLimit, queryOffset, storableText, uuid } from "../../base/http/fields.ts";
import { parseTime } from "../run-rows/times.ts";
import { bounded } from "../runs/query-schema.ts";
import { EXPORT_FIELDS } from "./columns.ts";
import { meansCancelled } from "./status.ts";

/** Bulk exports, as the LangSmith API has them. */

const time = bounded(isoTime);

const fields = z.array(
  z.enum(EXPORT_FIELDS as [string, ...string[]], {
    error: ({ input }) => `there is no field ${JSON.stringify(input)}; there are ${EXPORT_FIELDS.join(", ")}`,
  }),
);

/** Strict: a misspelt `filter` would export everything. */
export const createBody = z
  .strictObject({
    bulk_export_destination_id: uuid,
    session_id: uuid,
    start_time: time,
    end_time: time.nullish(),
    filter: storableText.max(100_000).nullish(),
    format: z.literal("Parquet").nullish(),
    format_version: z.enum(["v1", "v2_beta"]).nullish(),
    compression: z
      .enum(["none", "gzip", "snappy", "zstandard", "zstd"])
      .transform((name) => (name === "zstd" ? "zstandard" : name))
      .nullish(),
    interval_hours: z.int().min(1).max(168).nullish(),
    export_fields: fields.min(1, "must name at least one field; omit it for all fields").max(1000).nullish(),
    all_experiments: z
      .literal(false, '"all_experiments" is not supported: create an export for the project of each experiment')
      .nullish(),
  })
  .superRefine((body, context) => {
    const { start_time, end_time, interval_hours } = body;
    const wrong = (message: string) => context.addIssue({ code: "custom", path: ["end_time"], message });
    if (interval_hours != null && end_time != null) wrong("must be omitted when interval_hours is set");
    if (interval_hours == null && end_time == null) wrong("is required, unless interval_hours is set");
    if (end_time != null && parseTime(end_time)! <= parseTime(start_time)!) wrong("must be later than start_time");
  });
export type CreateBody = z.output<typeof createBody>;

/** An empty body means the same as Cancelled. */
export const updateBody = z
  .strictObject({ status: z.string().refine(meansCancelled, 'can only be set to "CANCELLED"').optional() })
  .nullish();

export const exportParams = z.object({ bulk_export_id: uuid });
export const exportRunParams = z.object({ bulk_export_id: uuid, run_id: uuid });
export const listQuery = z.object({ limit: queryLimit(1000), offset: queryOffset });
export const runsOfScheduleQuery = z.object({
  source_bulk_export_id: uuid,
  limit: queryLimit(1000),
  offset: queryOffset,
});

const progress = z
  .object({
    rows_total: z.number().nullable().describe("Null until the query has run"),
    rows_written: z.number(),
    bytes_written: z.number(),
    files_written: z.number(),
    percent: z.number().describe("0 to 100, by rows"),
    estimated_end: z.string().nullable().describe("Estimate from the rate so far, while it is running"),
  })
  .describe("Progress");

export const bulkExport = z
  .object({
    id: z.string(),
    tenant_id: z.string(),
    bulk_export_destination_id: z.string(),
    session_id: z.string(),
    start_time: z.string(),
    end_time: z.string().nullable(),
    interval_hours: z.number().nullable(),
    filter: z.string().nullable(),
    format: z.string(),
    format_version: z.string(),
    compression: z.string(),
    export_fields: z.array(z.string()).nullable(),
    source_bulk_export_id: z.string().nullable(),
    status: z.string(),
    error: z.string().nullable().describe("Why it failed"),
    created_at: z.string(),
    updated_at: z.string(),
    started_at: z.string().nullable(),
    finished_at: z.string().nullable(),
    progress,
  })
  .meta({ id: "BulkExport" });

export const bulkExportRun = z
  .object({
    id: z.string(),
    bulk_export_id: z.string(),
    session_id: z.string(),
    status: z.string(),
    retry_number: z.number(),
    errors: jsonObject.nullable(),
    created_at: z.string(),
    updated_at: z.string(),
    finished_at: z.string().nullable(),
    start_time: z.string(),
    end_time: z.string(),
    metadata: z.object({
      prefix: z.string(),
      start_time: z.string(),
      end_time: z.string(),
      execution_backend: z.string(),
      result: z
        .object({
          rows_written: z.number(),
          bytes_written: z.number(),
          exported_files: z.array(z.string()),
          export_path: z.string(),
          latest_cursor: z.string().nullable(),
          pending_upload: z.null(),
        })
        .nullable(),
    }),
    progress,
  })
  .meta({ id: "BulkExportRun" });
