import { notFound } from "../../base/errors.ts";
import { platform } from "../../base/http/aliases.ts";
import { bodyText } from "../../base/http/json-body.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { readCommit } from "../prompt-commits/find-commit.ts";
import { promptNotFound, readablePrompt, writablePrompt } from "../prompts/find-prompt.ts";
import { repoPath } from "../prompts/schema.ts";
import { deletePrompts } from "../prompts/sql.ts";
import { readChanges } from "./change-files.ts";
import { checkHasFiles, commitDirectory } from "./commit-directory.ts";
import * as schema from "./schema.ts";

const shared = { tag: "Prompts", errorFamily: "error", params: repoPath } as const;

/** Routes of the files of agents and skills (contract: group hub). */
export function promptDirectoryRoutes({ sql }: Pick<TraceDeps, "sql">): Route[] {
  return [
    route({
      ...shared,
      method: "GET",
      ...platform("/hub/repos/:owner/:repo/directories"),
      permission: "prompts:read",
      summary: "Get all files of an agent or a skill at a commit, a tag or latest",
      query: schema.directoryQuery,
      out: { 200: schema.directory },
      errors: [400],
      async handler({ params, query, principal }) {
        const repo = await readablePrompt(sql, principal, params);
        checkHasFiles(params, repo.repo_type);
        if (query.repo_type !== undefined && query.repo_type !== repo.repo_type) {
          throw notFound(`"${params.repo}" is not a ${query.repo_type} but of the type ${repo.repo_type}.`);
        }
        const options = { withModel: true, known: null };
        const commit = await readCommit(sql, principal.workspaceId, params, query.commit ?? "latest", options);
        // the manifest is {"files": …}
        const ids = JSON.stringify({ commit_id: commit.commit_id, commit_hash: commit.commit_hash });
        return rawJson(`${ids.slice(0, -1)},${commit.manifest!.slice(1)}`);
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      ...platform("/hub/repos/:owner/:repo/directories"),
      permission: "prompts:delete",
      summary: "Delete an agent or a skill with all commits; what it links to stays",
      out: { 204: null },
      errors: [400],
      async handler({ params, principal, c }) {
        await sql.begin(async (tx) => {
          const { repo_id: id, repo_type: type } = await writablePrompt(tx, principal, params);
          checkHasFiles(params, type);
          if ((await deletePrompts(tx, principal.workspaceId, [id])).length === 0) throw promptNotFound(params);
        });
        return c.body(null, 204);
      },
    }),
    route({
      ...shared,
      method: "POST",
      ...platform("/hub/repos/:owner/:repo/directories/commits"),
      permission: "prompts:update",
      summary: "Commit created, changed and deleted (null) files and links of an agent or a skill",
      body: schema.commitBody,
      keepsText: true,
      maxBodyBytes: 2 * schema.MAX_DIRECTORY_BYTES,
      out: { 200: schema.created },
      errors: [409],
      async handler({ params, body, principal, c }) {
        // the contents as they were sent: what Postgres cannot store in jsonb is kept escaped
        const { files } = JSON.parse(bodyText(c)) as { files: object };
        const change = { changes: readChanges(files), parent: body.parent_commit };
        const { commit } = JSON.parse(await commitDirectory(sql, principal, params, change)) as {
          commit: { id: string; commit_hash: string; created_at: string };
        };
        const { id, commit_hash, created_at } = commit;
        return c.json({ commit: { id, commit_hash, created_at } });
      },
    }),
  ];
}
