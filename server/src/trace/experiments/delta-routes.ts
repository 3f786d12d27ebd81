import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import { datasetParams } from "../datasets/schema.ts";
import { findDatasetRow } from "../datasets/sql.ts";
import type { TraceDeps } from "../deps.ts";
import * as schema from "./delta-schema.ts";
import { feedbackDeltas, streamDeltas } from "./feedback-deltas.ts";

const shared = { tag: "Datasets", method: "POST", permission: "datasets:read", params: datasetParams } as const;

/** Routes of the numbers of better and worse examples. */
export function deltaRoutes(deps: TraceDeps): Route[] {
  const checkDataset = async (tenantId: string, id: string) => {
    if (!(await findDatasetRow(deps.sql, tenantId, id))) throw notFound("Dataset not found");
  };
  return [
    route({
      ...shared,
      ...v1("/datasets/:dataset_id/runs/delta"),
      summary: "List the examples whose score is better or worse than in a baseline experiment",
      body: schema.deltaBody,
      out: { 200: schema.feedbackDeltas },
      errors: [400],
      async handler({ params: { dataset_id: id }, body: { feedback_key: key, ...query }, principal, c }) {
        await checkDataset(principal.workspaceId, id);
        const deltas = await feedbackDeltas(deps, principal.workspaceId, id, query, [key]);
        return c.json({ feedback_deltas: deltas.get(key)! });
      },
    }),
    route({
      ...shared,
      ...v1("/datasets/:dataset_id/runs/delta/stream"),
      summary: "Stream the examples whose scores are better or worse than in a baseline experiment, key by key",
      body: schema.deltaBatchBody,
      out: { 200: "text/event-stream" },
      async handler({ params: { dataset_id: id }, body, principal }) {
        await checkDataset(principal.workspaceId, id);
        return streamDeltas(deps, principal.workspaceId, id, body);
      },
    }),
  ];
}
