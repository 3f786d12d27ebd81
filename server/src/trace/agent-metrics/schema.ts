import { z } from "zod";

import { storableText, timestamp, uuid } from "../../base/http/fields.ts";

const label = storableText.max(250);

export const readings = z
  .object({
    project: storableText.min(1).max(1024).describe("Name of the tracing project"),
    server_id: uuid,
    readings: z
      .array(
        z.object({
          minute: timestamp,
          kind: z.enum(["run", "wait", "queue", "cron", "webhook"]),
          graph: label,
          assistant: label,
          status: label,
          count: z.int().min(0),
          seconds: z.number().min(0),
          bins: z
            .record(z.string().regex(/^-?\d{1,3}$/, "must be the number of a bin"), z.int().min(0))
            .refine((bins) => Object.keys(bins).length <= 500, "must be at most 500 bins"),
        }),
      )
      .max(2000),
  })
  .meta({ id: "AgentReadings" });
export type AgentReadings = z.output<typeof readings>;
