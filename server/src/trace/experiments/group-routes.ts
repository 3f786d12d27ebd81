import { SSE_HEADERS, sseFrame, textBody } from "../../base/events/sse.ts";
import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import { datasetParams } from "../datasets/schema.ts";
import { findDatasetRow } from "../datasets/sql.ts";
import type { TraceDeps } from "../deps.ts";
import { serializeExample } from "../examples/serialize-example.ts";
import { plain } from "../projects/list-projects.ts";
import { findProject } from "../projects/sql.ts";
import { publicUrl } from "../public-url.ts";
import { loadScope } from "../runs/load-scope.ts";
import { RunScope } from "../runs/run-scope.ts";
import { serializationContext } from "../runs/serialization-context.ts";
import { planV1 } from "../runs/serialize-v1.ts";
import { experimentRuns, RUN_FIELDS } from "./experiment-runs.ts";
import { checkExperiments } from "./experiment-values.ts";
import { groupExamples, groupStatistics } from "./group-examples.ts";
import { type ExperimentGroup, groupExperiments } from "./group-experiments.ts";
import * as schema from "./group-schema.ts";

const shared = { tag: "Datasets", method: "POST", permission: "datasets:read", params: datasetParams } as const;

/** Routes of examples and experiments in groups. */
export function groupRoutes(deps: TraceDeps): Route[] {
  const checkDataset = async (tenantId: string, id: string) => {
    if (!(await findDatasetRow(deps.sql, tenantId, id))) throw notFound("Dataset not found");
  };
  return [
    route({
      ...shared,
      ...v1("/datasets/:dataset_id/group/runs"),
      summary: "Group examples with their runs in experiments by a metadata value",
      body: schema.groupBody,
      out: { 200: schema.groupedExamples },
      errors: [400],
      async handler({ params: { dataset_id: id }, body, principal, c }) {
        const tenantId = principal.workspaceId;
        await checkDataset(tenantId, id);
        await checkExperiments(deps, tenantId, id, body.session_ids);
        const scope = await loadScope(deps, RunScope.of(principal));
        const context = serializationContext(deps.settings, scope, c);
        const wire = { links: deps.links, base: publicUrl(deps.settings, c) };
        const texts = body.preview ? ["inputs_preview", "outputs_preview"] : ["inputs", "outputs"];
        const plan = planV1([...RUN_FIELDS, ...texts]);
        const projects = await Promise.all(body.session_ids.map((each) => findProject(deps.sql, tenantId, each)));
        const groups: string[] = [];
        for (const group of await groupExamples(deps, tenantId, id, body)) {
          const { all, byProject } = await groupStatistics(deps, scope, body.session_ids, group);
          const page = { experiments: body.session_ids, limit: body.per_group_limit, offset: 0, runs: group.runs };
          const first = group.examples.slice(0, body.per_group_limit);
          const order = { plan, context };
          const feedback = { comparison: undefined };
          const found = await experimentRuns(deps, scope, id, { ...page, examples: first }, order, feedback);
          const examples = found.map(
            ({ example, runs }) => `${serializeExample(wire, example).slice(0, -1)},"runs":[${runs.join(",")}]}`,
          );
          const { run_count: count, ...statistics } = all;
          const sessions = projects.flatMap((project) =>
            project ? { ...plain(project), ...byProject.get(project.id) } : [],
          );
          const head = JSON.stringify({ group_key: group.key, count, ...statistics, sessions });
          groups.push(`${head.slice(0, -1)},"examples":[${examples.join(",")}]}`);
        }
        return rawJson(`{"groups":[${groups.join(",")}]}`);
      },
    }),
    route({
      ...shared,
      ...v1("/datasets/:dataset_id/experiments/grouped"),
      summary: "Stream a dataset's experiments in groups by metadata, an event per group",
      body: schema.groupedExperimentsBody,
      out: { 200: "text/event-stream" },
      errors: [400],
      async handler({ params: { dataset_id: id }, body, principal }) {
        await checkDataset(principal.workspaceId, id);
        const groups = await groupExperiments(deps, principal.workspaceId, id, body);
        return new Response(textBody(groupFrames(groups), { onLeave() {} }), { headers: SSE_HEADERS });
      },
    }),
  ];
}

async function* groupFrames(groups: ExperimentGroup[]): AsyncGenerator<Uint8Array, void> {
  for (const group of groups) yield sseFrame(undefined, "data", JSON.stringify(group));
  yield sseFrame(undefined, "end", "null");
}
