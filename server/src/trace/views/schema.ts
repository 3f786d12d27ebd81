import { z } from "zod";

import { AppError } from "../../base/errors.ts";
import { isoTime, storableText, uuid } from "../../base/http/fields.ts";
import { readFilter } from "../filter/read-filter.ts";
import { FilterError } from "../filter/filter-error.ts";
import { RUN_TYPES } from "../run-rows/run-types.ts";
import { isSortKey } from "../runs/sort-keys.ts";

/** Contract: `FilterView` and its relatives. `list`, `is_shared`, `is_default` and the owner are Heddle's own. */

/** Views of a project, and of a workspace for all projects. */
export const MAX_VIEWS = 1000;
const MAX_COLUMNS = 200;

const VIEW_TYPES = ["runs", "threads", "single_run"] as const;

const expression = storableText.max(65_536).refine(isFilter, {
  error: ({ input }) => filterProblem(input as string) ?? "is not a filter expression",
});
const name = storableText.trim().min(1).max(512);

/** Fields that null clears. */
const filters = {
  description: storableText.max(20_000).nullish(),
  filter_string: expression.nullish(),
  trace_filter_string: expression.nullish(),
  tree_filter_string: expression.nullish(),
  start_time: isoTime.nullish(),
  end_time: isoTime.nullish(),
  /** Length of a range that ends now, as the client writes it: `7d`. */
  duration: storableText.max(64).nullish(),
};

const columns = z.array(storableText.max(200)).max(MAX_COLUMNS).nullable();

/** What a list shows beside its filters. */
const list = z
  .strictObject({
    /** Text that occurs anywhere in a run. */
    query: storableText.max(10_000).nullable(),
    is_root: z.boolean().nullable(),
    run_type: z.enum(RUN_TYPES).nullable(),
    order_by: z.string().max(300).refine(isSortKey, "must be a sort key of POST /runs/query").nullable(),
    order: z.enum(["asc", "desc"]).nullable(),
    /** Visible columns, in their order. */
    columns,
  })
  .partial()
  .meta({ id: "FilterViewList" });

export const createBody = z
  .object({
    ...filters,
    id: uuid.nullish(),
    display_name: name,
    type: z
      .enum(VIEW_TYPES)
      .nullish()
      .transform((type) => type ?? "runs"),
    list: list.nullish(),
    /** Visible to the whole workspace; as for the official clients, which know no other views, by default. */
    is_shared: z
      .boolean()
      .nullish()
      .transform((shared) => shared ?? true),
    /** Of all projects of the workspace. */
    all_projects: z.boolean().nullish(),
  })
  .meta({ id: "FilterViewCreate" });
export type ViewCreate = z.output<typeof createBody>;

export const patchBody = z
  .object({
    ...filters,
    display_name: name.nullish(),
    type: z.enum(VIEW_TYPES).nullish(),
    list: list.nullish(),
    is_shared: z.boolean().nullish(),
    /** Opens the project with this view, for the caller only. */
    is_default: z.boolean().nullish(),
    /** `updated_at` of the view as the caller knows it: 409 when it was changed since. */
    if_updated_at: z.string().max(64).nullish(),
  })
  .meta({ id: "FilterViewUpdate" });
export type ViewPatch = Omit<z.output<typeof patchBody>, "is_default" | "if_updated_at">;

export const renameBody = z.object({ display_name: name, description: filters.description });

export const projectParams = z.object({ session_id: uuid });
export const viewParams = z.object({ session_id: uuid, view_id: uuid });
export const listQuery = z.object({ type: z.enum(VIEW_TYPES).optional() });

export const view = z
  .object({
    id: uuid,
    session_id: uuid.nullable(),
    display_name: z.string(),
    description: z.string().nullable(),
    type: z.enum(VIEW_TYPES),
    filter_string: z.string().nullable(),
    trace_filter_string: z.string().nullable(),
    tree_filter_string: z.string().nullable(),
    start_time: z.string().nullable(),
    end_time: z.string().nullable(),
    duration: z.string().nullable(),
    list: z
      .object({
        query: z.string().nullable(),
        is_root: z.boolean().nullable(),
        run_type: z.string().nullable(),
        order_by: z.string().nullable(),
        order: z.enum(["asc", "desc"]).nullable(),
        columns: z.array(z.string()).nullable(),
      })
      .partial(),
    is_shared: z.boolean(),
    /** The project opens with this view, for the caller. */
    is_default: z.boolean(),
    /** Saved by the caller. */
    is_mine: z.boolean(),
    owner_name: z.string().nullable(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: "FilterView" });

function filterProblem(text: string): string | undefined {
  try {
    readFilter(text);
    return undefined;
  } catch (error) {
    if (error instanceof FilterError || error instanceof AppError) return error.message;
    throw error;
  }
}

function isFilter(text: string): boolean {
  return text.trim() === "" || filterProblem(text) === undefined;
}
