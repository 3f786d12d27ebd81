import { unprocessable } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { checkCanPublish, createPrompt, forkPrompt } from "./create-prompt.ts";
import { promptNotFound, readablePrompt, writablePrompt } from "./find-prompt.ts";
import * as schema from "./schema.ts";
import { countTags, deletePrompts, listPrompts, MAX_MANIFESTS, readPrompt, updatePrompt } from "./sql.ts";

const tag = "Prompts";
const auditFields = ["repo_handle", "repo_type"];

/** Routes of prompts (contract: groups repos and tags of repos). Commits and their tags have separate slices. */
export function promptRoutes({ sql }: Pick<TraceDeps, "sql">): Route[] {
  const answer = async (tenantId: string, id: string) => rawJson((await readPrompt(sql, tenantId, id)) ?? "null");
  return [
    route({
      tag,
      method: "GET",
      ...v1("/repos"),
      permission: "prompts:read",
      summary: "List prompts of the workspace; by owner or is_public=true, also public ones of other workspaces",
      query: schema.listQuery,
      out: { 200: schema.promptList },
      errors: [422],
      async handler({ query, principal }) {
        const page = await listPrompts(sql, principal.workspaceId, query);
        if (page !== undefined) return rawJson(page);
        throw unprocessable(
          `with_latest_manifest: the manifests of this page have more than ${MAX_MANIFESTS / 1024 / 1024} MB. Choose a smaller limit.`,
        );
      },
    }),
    route({
      tag,
      method: "POST",
      ...v1("/repos"),
      permission: "prompts:create",
      summary: "Create a prompt without commits",
      auditFields,
      body: schema.createBody,
      out: { 200: schema.promptAnswer },
      errors: [409],
      async handler({ body, principal }) {
        return answer(principal.workspaceId, await createPrompt(sql, principal, body));
      },
    }),
    route({
      tag,
      method: "DELETE",
      ...v1("/repos"),
      permission: "prompts:delete",
      summary: "Delete prompts with all commits; 207 when some are not found",
      query: schema.deleteQuery,
      out: { 200: schema.deletedMany, 207: schema.deletedMany },
      async handler({ query: { repo_ids: ids }, principal, c }) {
        const deleted = await deletePrompts(sql, principal.workspaceId, ids);
        const missing = [...new Set(ids)].filter((id) => !deleted.includes(id));
        const failed = missing.map((id) => ({ id, error: "Prompt not found" }));
        return c.json({ deleted, failed }, failed.length === 0 ? 200 : 207);
      },
    }),
    route({
      tag,
      method: "GET",
      ...v1("/repos/tags"),
      permission: "prompts:read",
      summary: "Count the labels of the prompts that match the filters of the list",
      query: schema.tagsQuery,
      out: { 200: schema.tagCounts },
      handler: async ({ query, principal }) => rawJson(await countTags(sql, principal.workspaceId, query)),
    }),
    route({
      tag,
      method: "GET",
      ...v1("/repos/:owner/:repo"),
      permission: "prompts:read",
      summary: "Get a prompt; the owner is the handle of a workspace, or - for the caller's",
      params: schema.repoPath,
      out: { 200: schema.promptAnswer },
      async handler({ params, principal }) {
        const { repo_id: id } = await readablePrompt(sql, principal, params);
        return answer(principal.workspaceId, id);
      },
    }),
    route({
      tag,
      method: "PATCH",
      ...v1("/repos/:owner/:repo"),
      permission: "prompts:update",
      summary: "Change the description, README, labels, visibility or archival of a prompt",
      auditFields: ["is_public", "is_archived"],
      params: schema.repoPath,
      body: schema.patchBody,
      out: { 200: schema.promptAnswer },
      async handler({ params, body, principal }) {
        await checkCanPublish(sql, principal.workspaceId, body.is_public === true);
        const id = (await sql.begin(async (tx) => {
          const { repo_id: repoId } = await writablePrompt(tx, principal, params);
          await updatePrompt(tx, repoId, body);
          return repoId;
        })) as string;
        return answer(principal.workspaceId, id);
      },
    }),
    route({
      tag,
      method: "DELETE",
      ...v1("/repos/:owner/:repo"),
      permission: "prompts:delete",
      summary: "Delete a prompt with all commits and tags; forks stay",
      params: schema.repoPath,
      out: { 200: schema.message },
      async handler({ params, principal, c }) {
        await sql.begin(async (tx) => {
          const { repo_id: id } = await writablePrompt(tx, principal, params);
          if ((await deletePrompts(tx, principal.workspaceId, [id])).length === 0) throw promptNotFound(params);
        });
        return c.json({ message: "Prompt deleted" });
      },
    }),
    route({
      tag,
      method: "POST",
      ...v1("/repos/:owner/:repo/fork"),
      permission: "prompts:create",
      summary: "Copy a prompt with its latest thousand commits, without its tags",
      auditFields,
      params: schema.repoPath,
      body: schema.forkBody,
      out: { 200: schema.promptAnswer },
      errors: [409],
      async handler({ params, body, principal }) {
        return answer(principal.workspaceId, await forkPrompt(sql, principal, params, body));
      },
    }),
  ];
}
