import { z } from "zod";

import { tagName } from "../prompt-tags/schema.ts";

const MOST = 4;

const environments = z
  .array(z.object({ name: tagName.max(64) }))
  .max(MOST)
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, "must have different names");

export const createBody = z.object({ environments: environments.min(1) });
export const replaceBody = z.object({ environments });

export const modelParams = z.object({ environments_id: z.guid().toLowerCase() });

export const model = z
  .object({ id: z.string(), environments: z.array(z.object({ name: z.string() })) })
  .meta({ id: "PromptEnvironments" });

export const deleted = z.object({ message: z.string() });
