import { z } from "zod";

import { uuid } from "../../base/http/fields.ts";

export const newErasure = z
  .strictObject({
    trace_ids: z.array(uuid).min(1).max(10_000).optional(),
    session_id: uuid.optional().meta({ description: "A project." }),
    workspace_id: uuid.optional().meta({ description: "The caller's workspace: everything in it." }),
    dataset_copies: z
      .boolean()
      .default(false)
      .meta({ description: "Also the examples made of these runs; of a workspace all its datasets." }),
  })
  .refine((body) => [body.trace_ids, body.session_id, body.workspace_id].filter((x) => x !== undefined).length === 1, {
    path: ["trace_ids"],
    message: "give trace_ids, session_id or workspace_id",
  });

export const erasure = z
  .object({
    id: z.guid(),
    scope: z.enum(["traces", "project", "workspace"]),
    session_ids: z.array(z.guid()).nullable(),
    traces: z.int().nullable(),
    dataset_copies: z.boolean(),
    status: z.enum(["pending", "deleted", "done"]).meta({
      description: "pending: being deleted; deleted: cannot be read any more; done: off the disk.",
    }),
    requested_by: z.string(),
    requested_at: z.string(),
    deleted_at: z.string().nullable(),
    done_at: z.string().nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: "Erasure" });

export const erasureParams = z.object({ erasure_id: uuid });
export const listQuery = z.object({ limit: z.coerce.number().int().min(1).max(100).default(100) });
