import { z } from "zod";

import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { publicUrl } from "../public-url.ts";
import { jsonFrom } from "../runs/json-stream.ts";
import { printContext } from "../runs/print-context.ts";
import { RunScope } from "../runs/run-scope.ts";
import { exampleOnWire } from "./examples-on-wire.ts";
import { experimentRuns } from "./experiment-runs.ts";
import * as schema from "./experiment-schema.ts";
import { datasetParams } from "./schema.ts";
import { findDatasetRow } from "./sql.ts";

export function experimentRoutes(deps: TraceDeps): Route[] {
  return [
    route({
      tag: "Datasets",
      method: "POST",
      ...v1("/datasets/:dataset_id/runs"),
      permission: "datasets:read",
      summary: "Examples with the runs that experiments made of them",
      params: datasetParams,
      body: schema.experimentRunsBody,
      out: { 200: z.array(schema.exampleWithRuns) },
      async handler({ params: { dataset_id: id }, body, principal, c }) {
        if (!(await findDatasetRow(deps.sql, principal.workspaceId, id))) throw notFound("Dataset not found");
        const wire = { links: deps.links, base: publicUrl(deps.settings, c) };
        const context = printContext(deps.settings, RunScope.of(principal), c);
        const text = (one: Parameters<typeof exampleOnWire>[1]) => exampleOnWire(wire, one);
        return jsonFrom(experimentRuns(deps, principal, context, id, body, text));
      },
    }),
  ];
}
