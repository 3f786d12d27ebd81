import { v1 } from "../../base/http/aliases.ts";
import { bodyText } from "../../base/http/json-body.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { rawFields } from "../ingest/raw-fields.ts";
import { readablePrompt } from "../prompts/find-prompt.ts";
import { repoPath } from "../prompts/schema.ts";
import { commitPrompt } from "./commit-prompt.ts";
import { readCommit } from "./find-commit.ts";
import { loadableText, modelFacts } from "./prompt-manifest.ts";
import * as schema from "./schema.ts";
import { listCommits } from "./sql.ts";

/** Commits answer errors as `{"error": message}` (contract: commits.ErrorResponse). */
const shared = { tag: "Prompts", errorFamily: "error" } as const;

/** Routes of the commits of prompts. */
export function promptCommitRoutes({ sql }: Pick<TraceDeps, "sql">): Route[] {
  return [
    route({
      ...shared,
      method: "GET",
      ...v1("/commits/:owner/:repo"),
      permission: "prompts:read",
      summary: "List the commits of a prompt, latest first, without their manifests",
      params: repoPath,
      query: schema.listQuery,
      out: { 200: schema.commitList },
      async handler({ params, query, principal }) {
        const { repo_id: id } = await readablePrompt(sql, principal, params);
        return rawJson(await listCommits(sql, id, query));
      },
    }),
    route({
      ...shared,
      method: "POST",
      ...v1("/commits/:owner/:repo"),
      permission: "prompts:update",
      summary: "Commit a manifest, which is stored as the text that was sent",
      params: repoPath,
      body: schema.commitBody,
      keepsText: true,
      maxBodyBytes: schema.MAX_COMMIT_BYTES,
      out: { 201: schema.created },
      errors: [409],
      async handler({ params, body, principal, c }) {
        const text = bodyText(c);
        const { start, end } = rawFields(text, new Set(["manifest"])).get("manifest")!;
        const commit = await commitPrompt(sql, principal, params, text.slice(start, end), {
          parent: body.parent_commit,
          description: body.description,
          skipWebhooks: body.skip_webhooks,
        });
        return rawJson(commit, {}, 201);
      },
    }),
    route({
      ...shared,
      method: "GET",
      ...v1("/commits/:owner/:repo/:commit"),
      permission: "prompts:read",
      summary: "Pull a commit by latest, tag, hash, or the first 8 or more characters of a hash",
      params: schema.commitPath,
      query: schema.readQuery,
      out: { 200: schema.pulled, 304: null },
      errors: [400],
      async handler({ params, query, principal, c }) {
        const withModel = query.include_model || query.include.has("model");
        const variant = [withModel ? "m" : "", query.include.has("is_draft") ? "d" : ""].join("");
        const known = new RegExp(`"([0-9a-f]{64})${variant}"`).exec(c.req.header("if-none-match") ?? "")?.[1] ?? null;
        const commit = await readCommit(sql, principal.workspaceId, params, params.commit, { withModel, known });
        const { commit_hash: hash, description, manifest } = commit;
        // caches of browsers and proxies ask again, as tags move
        const headers = { ETag: `"${hash}${variant}"`, "Cache-Control": "private, no-cache" };
        if (manifest === null) return c.body(null, 304, headers);
        const more = {
          examples: [],
          description,
          ...(query.include.has("is_draft") && { is_draft: false }),
          ...(withModel && modelFacts(manifest)),
        };
        const served = withModel ? loadableText(manifest) : manifest;
        return rawJson(`{"commit_hash":"${hash}","manifest":${served},${JSON.stringify(more).slice(1)}`, headers);
      },
    }),
  ];
}
