import { z } from "zod";

import { jsonObject, storableText } from "../../base/http/fields.ts";
import { datasetParams } from "../datasets/schema.ts";

const PLACES = ["inputs", "outputs", "reference_outputs", "feedback", "metrics", "attachments", "metadata"];
const place = new RegExp(`^(${PLACES.join("|")})(\\.|$)`);

const isStop = ([value, color, ...more]: (number | string)[]): boolean =>
  typeof value === "number" && /^#[0-9a-f]{3,8}$/i.test(String(color)) && more.length === 0;

const columnOverride = z
  .object({
    column: storableText.max(200).regex(place, `must begin with ${PLACES.join(", ")}`),
    /** Pairs of a number and a colour, ascending. */
    color_gradient: z
      .array(z.array(z.union([z.number(), z.string()])).refine(isStop, "must be a number and a colour like #ff0000"))
      .max(20)
      .optional(),
    color_map: jsonObject.optional(),
    disable_colors: z.boolean().optional(),
    hide: z.boolean().optional(),
    precision: z.int().min(1).max(6).optional(),
  })
  .meta({ id: "ExperimentColumnOverride" });

export const overrideBody = z
  .object({
    column_overrides: z
      .array(columnOverride)
      .min(1)
      .max(50)
      .refine((list) => new Set(list.map(({ column }) => column)).size === list.length, "must name each column once"),
  })
  .meta({ id: "ExperimentViewOverrideBody" });

export const viewOverride = z
  .object({
    id: z.guid(),
    dataset_id: z.guid(),
    column_overrides: z.array(columnOverride),
    created_at: z.iso.datetime({ offset: true }),
    modified_at: z.iso.datetime({ offset: true }),
  })
  .meta({ id: "ExperimentViewOverride" });

export const overrideParams = datasetParams.extend({ override_id: datasetParams.shape.dataset_id });
