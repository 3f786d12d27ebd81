import { z } from "zod";

import { uuid } from "../../base/http/fields.ts";

/** Shared runs and datasets, as the LangSmith API has them. */

export const runParams = z.object({ run_id: uuid });

export const shareBody = z.object({
  run_id: uuid.nullish(),
  /** Chosen by the client; random otherwise. */
  share_token: z.uuidv4("must be a random UUID (version 4)").toLowerCase().nullish(),
});

export const share = z.object({ run_id: uuid, share_token: uuid });

export const shareV2Body = z.object({ session_id: uuid, trace_id: uuid });
export const unshareV2Body = z.object({ session_id: uuid });

const share_token = uuid;
export const publicParams = z.object({ share_token });
export const publicRunParams = z.object({ share_token, run_id: uuid });

export const publicQueryBody = z.object({
  id: z.array(uuid).max(1000).nullish(),
});
