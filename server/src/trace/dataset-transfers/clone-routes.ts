import { z } from "zod";

import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { jsonObject, timestamp, uuid } from "../../base/http/fields.ts";
import { route, type Route } from "../../base/http/route.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { checkExamples } from "../datasets/check-examples.ts";
import { cloneDataset } from "./clone-dataset.ts";
import { findDatasetRow } from "../datasets/sql.ts";

const split = z.union([z.array(z.string().min(1)).max(100), z.string().min(1)]).nullish();

const cloneBody = z
  .object({
    source_dataset_id: uuid,
    target_dataset_id: uuid,
    as_of: z.string().min(1).max(512).nullish(),
    examples: z.array(uuid).max(10_000).default([]),
    split,
  })
  .meta({ id: "DatasetClone" });

const cloned = z.object({ id: z.guid(), dataset_id: z.guid(), source_example_id: z.guid() });

/** Example to validate without writing it. Without a dataset there is no schema to validate against. */
const candidate = z
  .object({
    dataset_id: uuid.nullish(),
    id: uuid.nullish(),
    inputs: jsonObject.nullish(),
    outputs: jsonObject.nullish(),
    metadata: jsonObject.nullish(),
    created_at: timestamp.nullish(),
    source_run_id: uuid.nullish(),
    split: split.transform((value) => value ?? "base"),
    use_source_run_io: z.boolean().default(false),
    overwrite: z.boolean().default(false),
  })
  .meta({ id: "ExampleCandidate" });

/** Maximum number of examples per validation request. */
const MAX_CANDIDATES = 1000;

/** Routes for copying examples between datasets, and for validating examples. */
export function datasetCloneRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;

  /** Validates examples. @throws 404 without such a dataset, 422 naming the violation */
  const check = async (tenantId: string, candidates: z.output<typeof candidate>[]): Promise<void> => {
    for (const { dataset_id, id, inputs, outputs } of candidates) {
      if (!dataset_id) continue;
      const dataset = await findDatasetRow(sql, tenantId, dataset_id);
      if (!dataset) throw notFound("Dataset not found");
      // inputs that the example takes from its run are not known yet
      if (inputs) checkExamples(dataset, [{ example_id: id ?? uuid7(), inputs, outputs: outputs ?? null }]);
    }
  };

  return [
    route({
      tag: "Datasets",
      method: "POST",
      ...v1("/datasets/clone"),
      permission: "datasets:create",
      summary: "Copy examples from one dataset into another, as one version",
      body: cloneBody,
      out: { 200: z.array(cloned) },
      errors: [404, 409],
      async handler({ body, principal, c }) {
        return c.json(await cloneDataset(deps, principal.workspaceId, body));
      },
    }),
    route({
      tag: "Examples",
      method: "POST",
      ...v1("/examples/validate"),
      permission: "datasets:read",
      summary: "Check whether an example would be accepted, without writing it",
      body: candidate,
      out: { 200: candidate },
      errors: [404],
      async handler({ body, principal, c }) {
        await check(principal.workspaceId, [body]);
        return c.json(body);
      },
    }),
    route({
      tag: "Examples",
      method: "POST",
      ...v1("/examples/validate/bulk"),
      permission: "datasets:read",
      summary: "Check whether examples would be accepted, without writing them",
      body: z.array(candidate).max(MAX_CANDIDATES),
      out: { 200: z.array(candidate) },
      errors: [404],
      async handler({ body, principal, c }) {
        await check(principal.workspaceId, body);
        return c.json(body);
      },
    }),
  ];
}
