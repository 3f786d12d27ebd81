import { platform } from "../../base/http/aliases.ts";
import { notFound } from "../../base/errors.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import * as schema from "./schema.ts";
import { readParts } from "./read-parts.ts";
import { datasetParams } from "../datasets/schema.ts";
import { reviseExamples, uploadExamples } from "./upload-examples.ts";
import { deleteExamples, eraseExamplesForGood } from "./write-examples.ts";

/** The LangSmith API groups these with the ingest endpoints, whose errors are {"error": …}. */
const shared = { tag: "Examples", errorFamily: "error" } as const;
const params = datasetParams;

/** Routes for examples in multipart bodies, as the SDKs send them. */
export function exampleUploadRoutes(deps: TraceDeps): Route[] {
  return [
    route({
      ...shared,
      params,
      method: "POST",
      ...platform("/datasets/:dataset_id/examples"),
      permission: "datasets:create",
      summary: "Create examples with files, as one version",
      out: { 201: schema.writtenExamples },
      errors: [400, 409, 413, 415],
      async handler({ params: { dataset_id: id }, principal, c }) {
        return c.json(await uploadExamples(deps, principal.workspaceId, id, await readParts(c)), 201);
      },
    }),
    route({
      ...shared,
      params,
      method: "PATCH",
      ...platform("/datasets/:dataset_id/examples"),
      permission: "datasets:update",
      summary: "Update examples and their files, as one version",
      out: { 201: schema.writtenExamples },
      errors: [400, 409, 413, 415],
      async handler({ params: { dataset_id: id }, principal, c }) {
        return c.json(await reviseExamples(deps, principal.workspaceId, id, await readParts(c)), 201);
      },
    }),
    route({
      ...shared,
      method: "POST",
      ...platform("/datasets/examples/delete"),
      permission: "datasets:delete",
      summary: "Delete examples; with hard_delete permanently, including all versions and files",
      body: schema.hardDeleteBody,
      out: { 200: schema.deletedExamples },
      errors: [404, 409],
      async handler({ body, principal, c }) {
        const { example_ids: ids, hard_delete: forGood } = body;
        if (!forGood) {
          await deleteExamples(deps.sql, principal.workspaceId, ids);
          return c.json({ count: ids.length, example_ids: ids });
        }
        const erased = await eraseExamplesForGood(deps, principal.workspaceId, ids);
        if (erased.example_ids.length === 0) throw notFound("Example not found");
        await deps.blobs.delete(erased.blobs);
        return c.json({ count: erased.example_ids.length, example_ids: erased.example_ids });
      },
    }),
  ];
}
