import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import { datasetParams } from "../datasets/schema.ts";
import { findDatasetRow } from "../datasets/sql.ts";
import type { TraceDeps } from "../deps.ts";
import { acceptProposal, rejectProposal } from "./decide-proposal.ts";
import { findSimilar, groupNearDuplicates, type NearGroup, type Texted } from "./find-near-duplicates.ts";
import { generateExamples } from "./generate-examples.ts";
import * as schema from "./schema.ts";
import * as rows from "./sql.ts";

const tag = "Datasets";
const params = datasetParams;
const PREVIEW = 300;

/** Routes of near-duplicates, and of examples that a model proposes. */
export function datasetGrowthRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  const check = async (tenantId: string, id: string): Promise<void> => {
    if (!(await findDatasetRow(sql, tenantId, id))) throw notFound("Dataset not found");
  };
  const withPreviews = (members: NearGroup["members"], examples: ReadonlyMap<string, Texted>) =>
    members.map((member) => ({
      ...member,
      inputs_preview: JSON.stringify(examples.get(member.example_id)?.inputs ?? null).slice(0, PREVIEW),
    }));
  const byId = (examples: readonly Texted[]) => new Map(examples.map((each) => [each.example_id, each]));

  return [
    route({
      tag,
      params,
      method: "GET",
      ...v1("/datasets/:dataset_id/near-duplicates"),
      permission: "datasets:read",
      summary: "Group examples whose inputs are similar",
      query: schema.nearDuplicatesQuery,
      out: { 200: schema.nearDuplicates },
      async handler({ params: { dataset_id: id }, query, principal, c }) {
        await check(principal.workspaceId, id);
        const limit = schema.MAX_COMPARED + 1;
        const found = await rows.selectInputs(sql, principal.workspaceId, id, { splits: query.splits, limit });
        const examples = found.slice(-schema.MAX_COMPARED);
        const groups = await groupNearDuplicates(examples, query.threshold);
        const known = byId(examples);
        return c.json({
          threshold: query.threshold,
          examples: examples.length,
          is_truncated: found.length > examples.length,
          groups_total: groups.length,
          groups: groups.slice(0, query.limit).map(({ members }) => ({ members: withPreviews(members, known) })),
        });
      },
    }),
    route({
      tag,
      params,
      method: "POST",
      ...v1("/datasets/:dataset_id/similar-examples"),
      permission: "datasets:read",
      summary: "Find the examples whose inputs are similar to given ones",
      body: schema.similarBody,
      out: { 200: schema.similar },
      async handler({ params: { dataset_id: id }, body, principal, c }) {
        await check(principal.workspaceId, id);
        const examples = await rows.selectInputs(sql, principal.workspaceId, id, { limit: schema.MAX_COMPARED });
        const matches = await findSimilar(examples, body.inputs, body.threshold, body.limit);
        return c.json({ matches: withPreviews(matches, byId(examples)) });
      },
    }),
    route({
      tag,
      params,
      method: "POST",
      ...v1("/datasets/:dataset_id/generate"),
      permission: "models:call",
      summary: "Propose synthetic variants of examples by a model; they count when they are accepted",
      body: schema.generateBody,
      out: { 200: schema.generated },
      errors: [402, 404, 409, 424],
      async handler({ params: { dataset_id: id }, body, principal, c }) {
        const summary = await generateExamples(deps, principal, id, body, c.req.raw.signal);
        const filter = { request: summary.request_id };
        const { items } = await rows.listProposals(sql, principal.workspaceId, id, filter, { limit: 1000, offset: 0 });
        return rawJson(`${JSON.stringify(summary).slice(0, -1)},"proposals":${items}}`);
      },
    }),
    route({
      tag,
      params,
      method: "GET",
      ...v1("/datasets/:dataset_id/proposals"),
      permission: "datasets:read",
      summary: "List the examples that a model proposed, oldest first",
      query: schema.proposalsQuery,
      out: { 200: schema.proposals },
      async handler({ params: { dataset_id: id }, query, principal }) {
        await check(principal.workspaceId, id);
        const { items, total } = await rows.listProposals(
          sql,
          principal.workspaceId,
          id,
          { status: query.status },
          query,
        );
        return rawJson(`{"total":${total},"items":${items}}`);
      },
    }),
    route({
      tag,
      params: schema.proposalParams,
      method: "POST",
      ...v1("/datasets/:dataset_id/proposals/:proposal_id/accept"),
      permission: "datasets:create",
      summary: "Make a proposed example one of the dataset, with changes or without",
      body: schema.acceptBody,
      out: { 200: schema.accepted },
      errors: [404, 409],
      async handler({ params: { dataset_id, proposal_id }, body, principal, c }) {
        const { workspaceId: tenantId, actor } = principal;
        const place = { tenantId, datasetId: dataset_id, proposalId: proposal_id, userId: actor.userId };
        return c.json({ example_id: await acceptProposal(sql, place, body) });
      },
    }),
    route({
      tag,
      params: schema.proposalParams,
      method: "POST",
      ...v1("/datasets/:dataset_id/proposals/:proposal_id/reject"),
      permission: "datasets:create",
      summary: "Reject a proposed example",
      out: { 204: null },
      errors: [404, 409],
      async handler({ params: { dataset_id, proposal_id }, principal, c }) {
        const { workspaceId: tenantId, actor } = principal;
        await rejectProposal(sql, { tenantId, datasetId: dataset_id, proposalId: proposal_id, userId: actor.userId });
        return c.body(null, 204);
      },
    }),
  ];
}
