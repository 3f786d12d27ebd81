import { z } from "zod";

import { storableText, uuid } from "../../base/http/fields.ts";

const name = z.string().regex(/^[\w.:-]{1,100}$/, "must be 1 to 100 letters, digits or _ . : -");

export const threadParams = z.object({ thread_id: uuid });
export const signalParams = threadParams.extend({ name });

const key = storableText.min(1).max(255);

export const keyHeader = z.object({
  "Idempotency-Key": z.string().optional().describe("The signal's key, unless the body has one."),
});

export const signalBody = z.object({
  payload: z.unknown().optional().describe("What the wait returns. Null: nothing."),
  key: key
    .nullish()
    .describe("Identifies the signal among those of its name on this thread: a repetition has no effect."),
});

export const sentSignal = z.object({
  name: z.string(),
  key: z.string(),
  created: z.boolean().describe("False where a signal with this key exists."),
});

const time = z.iso.datetime({ offset: true });

export const waits = z.object({
  waits: z.array(
    z.object({
      interrupt_id: z.string(),
      signal: z.string().nullable(),
      until: time.nullable(),
    }),
  ),
  signals: z.array(
    z.object({
      name: z.string(),
      key: z.string(),
      created_at: time,
      run_id: z.guid().nullable().describe("Run that the signal has resumed; null: it waits for a wait."),
    }),
  ),
});
