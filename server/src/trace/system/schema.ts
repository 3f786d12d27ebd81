import { z } from "zod";

/** Names are those of the wire. */
export const info = z.object({
  version: z.string(),
  git_sha: z.string(),
  license_expiration_time: z.string().nullable(),
  batch_ingest_config: z.object({
    use_multipart_endpoint: z.boolean(),
    scale_up_qsize_trigger: z.int(),
    scale_up_nthreads_limit: z.int(),
    scale_down_nempty_trigger: z.int(),
    size_limit: z.int(),
    size_limit_bytes: z.int(),
  }),
  instance_flags: z.record(z.string(), z.unknown()),
  customer_info: z.null(),
  sdk_versions: z.null(),
  heddle_version: z.string(),
});

/**
 * API level reported to the SDKs, not Heddle's version. From 0.18.0 on they use v2 without a warning, and from 0.8.10
 * on multipart with feedback.
 */
export const API_LEVEL = "0.18.0";

export const health = z.object({
  ok: z.literal(true),
  checks: z.record(z.string(), z.object({ ms: z.number() })).optional(),
});
