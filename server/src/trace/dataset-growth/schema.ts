import { z } from "zod";

import { jsonObject, queryLimit, queryMany, queryOffset, storableText, uuid } from "../../base/http/fields.ts";
import { modelConfiguration } from "../models/message-schema.ts";

/** Examples that are compared, the newest; a dataset with more is compared in part. */
export const MAX_COMPARED = 50_000;
const MAX_GENERATED = 200;
const MAX_SOURCES = 100;

const share = z
  .string()
  .regex(/^(0?\.\d+|1(\.0+)?)$/, "must be between 0 and 1")
  .transform(Number)
  .pipe(z.number().min(0.3).max(1));

export const nearDuplicatesQuery = z.object({
  threshold: share.optional().transform((value) => value ?? 0.6),
  splits: queryMany(z.string(), 100),
  limit: queryLimit(100, 1000),
});

const member = z.object({ example_id: z.guid(), similarity: z.number(), inputs_preview: z.string() });

export const nearDuplicates = z
  .object({
    threshold: z.number(),
    examples: z.int(),
    /** Whether the dataset has more examples than were compared. */
    is_truncated: z.boolean(),
    groups_total: z.int(),
    groups: z.array(z.object({ members: z.array(member) })),
  })
  .meta({ id: "NearDuplicates" });

export const similarBody = z
  .object({
    inputs: jsonObject,
    threshold: z.number().min(0.3).max(1).default(0.6),
    limit: z.int().min(1).max(50).default(5),
  })
  .meta({ id: "SimilarExamplesQuery" });
export const similar = z.object({ matches: z.array(member) }).meta({ id: "SimilarExamples" });

const split = z.union([z.array(storableText.min(1)).max(100), storableText.min(1)]).nullish();

/** `example_ids` and `num_examples` are the contract's; the others are Heddle's additions. */
export const generateBody = z
  .object({
    num_examples: z.int().min(1).max(MAX_GENERATED),
    example_ids: z.array(uuid).min(1).max(MAX_SOURCES).nullish(),
    splits: z.array(storableText.min(1)).min(1).max(100).nullish(),
    instructions: storableText.max(10_000).nullish(),
    /** By default the first connection with a default model, by name. */
    model: modelConfiguration.nullish(),
    /** A request that is repeated with its id continues, and proposes nothing twice. */
    request_id: uuid.nullish(),
  })
  .meta({ id: "GenerateExamples" });

export const statuses = ["pending", "accepted", "rejected"] as const;
const time = z.iso.datetime({ offset: true });

export const proposal = z
  .object({
    id: z.guid(),
    dataset_id: z.guid(),
    request_id: z.guid(),
    source_example_id: z.guid(),
    inputs: jsonObject,
    outputs: jsonObject.nullable(),
    metadata: jsonObject,
    status: z.enum(statuses),
    example_id: z.guid().nullable(),
    run_id: z.guid().nullable(),
    created_at: time,
    decided_at: time.nullable(),
  })
  .meta({ id: "ExampleProposal" });

export const generated = z
  .object({
    request_id: z.guid(),
    /** All that the request proposed, also those of earlier attempts. */
    proposals: z.array(proposal),
    /** Variants that the dataset or another proposal already has, or that the dataset's schemas exclude. */
    duplicates: z.int(),
    invalid: z.int(),
    failed: z.array(z.object({ source_example_id: z.guid(), error: z.string() })),
    /** Why no further calls were made. */
    stopped: z.string().nullable(),
    cost_usd: z.string().nullable(),
  })
  .meta({ id: "GeneratedExamples" });

export const proposalsQuery = z.object({
  status: z.enum(statuses).default("pending"),
  limit: queryLimit(100, 100),
  offset: queryOffset,
});
export const proposals = z.object({ total: z.int(), items: z.array(proposal) }).meta({ id: "ExampleProposals" });

export const proposalParams = z.object({ dataset_id: uuid, proposal_id: uuid });

/** Fields that are given replace the proposal's. */
export const acceptBody = z
  .object({
    inputs: jsonObject.nullish(),
    outputs: jsonObject.nullish(),
    metadata: jsonObject.nullish(),
    split,
  })
  .meta({ id: "ExampleProposalAccept" });

export const accepted = z.object({ example_id: z.guid() });

export type GenerateBody = z.output<typeof generateBody>;
export type AcceptBody = z.output<typeof acceptBody>;
export type Generated = z.output<typeof generated>;
