import { z } from "zod";

import { v1 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { readablePrompt } from "../prompts/find-prompt.ts";
import { message, repoPath } from "../prompts/schema.ts";
import { moveTag, removeTag, tagNotFound } from "./move-tag.ts";
import * as schema from "./schema.ts";
import { listHistory, listMoves, listTags, readTag } from "./sql.ts";

const tag = "Prompts";

/** Routes of the tags of commits, which name the versions that running code pulls. */
export function promptTagRoutes({ sql }: Pick<TraceDeps, "sql">): Route[] {
  return [
    route({
      tag,
      method: "GET",
      ...v1("/repos/tag-moves"),
      permission: "prompts:read",
      summary: "List changes of the tags of all prompts of the workspace, latest first",
      query: schema.movesQuery,
      out: { 200: schema.moves },
      handler: async ({ query, principal }) => rawJson(await listMoves(sql, principal.workspaceId, query)),
    }),
    route({
      tag,
      method: "GET",
      ...v1("/repos/:owner/:repo/tags"),
      permission: "prompts:read",
      summary: "List the tags of a prompt's commits",
      params: repoPath,
      out: { 200: z.array(schema.tag) },
      async handler({ params, principal }) {
        const { repo_id: id } = await readablePrompt(sql, principal, params);
        return rawJson(await listTags(sql, id));
      },
    }),
    route({
      tag,
      method: "POST",
      ...v1("/repos/:owner/:repo/tags"),
      permission: "prompts:tag",
      summary: "Create a tag of a commit",
      auditFields: ["tag_name"],
      params: repoPath,
      body: schema.createBody,
      out: { 200: schema.tag },
      errors: [409],
      handler: async ({ params, body, principal }) =>
        rawJson(
          await moveTag(sql, principal, params, "create", {
            tagName: body.tag_name,
            commitId: body.commit_id,
            skipWebhooks: body.skip_webhooks,
          }),
        ),
    }),
    route({
      tag,
      method: "GET",
      ...v1("/repos/:owner/:repo/tags/:tag_name"),
      permission: "prompts:read",
      summary: "Get a tag",
      params: schema.tagPath,
      out: { 200: schema.tag },
      async handler({ params, principal }) {
        const { repo_id: id } = await readablePrompt(sql, principal, params);
        const found = await readTag(sql, id, params.tag_name);
        if (found === undefined) throw tagNotFound(params, params.tag_name);
        return rawJson(found);
      },
    }),
    route({
      tag,
      method: "PATCH",
      ...v1("/repos/:owner/:repo/tags/:tag_name"),
      permission: "prompts:tag",
      summary: "Move a tag to another commit, also back to an earlier one",
      params: schema.tagPath,
      body: schema.moveBody,
      out: { 200: schema.tag },
      handler: async ({ params, body, principal }) =>
        rawJson(
          await moveTag(sql, principal, params, "move", {
            tagName: params.tag_name,
            commitId: body.commit_id,
            skipWebhooks: body.skip_webhooks,
          }),
        ),
    }),
    route({
      tag,
      method: "DELETE",
      ...v1("/repos/:owner/:repo/tags/:tag_name"),
      permission: "prompts:tag",
      summary: "Delete a tag; its history stays",
      params: schema.tagPath,
      out: { 200: message },
      async handler({ params, principal, c }) {
        await removeTag(sql, principal, params, params.tag_name);
        return c.json({ message: "Tag deleted" });
      },
    }),
    route({
      tag,
      method: "GET",
      ...v1("/repos/:owner/:repo/tags/:tag_name/history"),
      permission: "prompts:read",
      summary: "List the changes of a tag, latest first",
      params: schema.tagPath,
      query: schema.historyQuery,
      out: { 200: schema.history },
      errorFamily: "error",
      async handler({ params, query, principal }) {
        const { repo_id: id } = await readablePrompt(sql, principal, params);
        const { total, text } = await listHistory(sql, id, params.tag_name, query);
        if (total === 0) throw tagNotFound(params, params.tag_name);
        return rawJson(text);
      },
    }),
  ];
}
