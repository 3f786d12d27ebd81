/** Tools over prompts and feedback. */
import { z } from "zod";

import * as fields from "./fields.ts";
import { findProject } from "./find.ts";
import { ToolError } from "./tool-error.ts";
import { tool, type Tool } from "./tool.ts";

type Row = Record<string, unknown>;

const name = z
  .string()
  .min(1)
  .max(300)
  .describe("Name of a prompt, or OWNER/NAME of a public one; list_prompts lists them.");
const nullableText = z.string().nullable();
const object = z.record(z.string(), z.unknown());

const pathOf = (prompt: string): string =>
  (prompt.includes("/") ? prompt.split("/", 2) : ["-", prompt]).map((part) => encodeURIComponent(part)).join("/");

export const PROMPT_TOOLS: Tool[] = [
  tool({
    name: "list_prompts",
    title: "List prompts",
    description: "Lists the prompts of the workspace with the tags of their commits. Continue with read_prompt.",
    permission: "prompts:read",
    input: z.strictObject({
      text: z.string().min(1).max(300).optional().describe("Text of the name, description or README."),
      limit: fields.limit(20, 100),
      cursor: fields.cursor,
    }),
    output: z.object({
      prompts: z.array(
        z.object({
          name: z.string(),
          description: nullableText,
          tags: z.array(z.string()),
          commit_tags: z.array(z.string()),
          commits: z.int(),
          last_commit: nullableText,
          updated_at: z.string(),
        }),
      ),
      next_cursor: fields.nextCursor,
    }),
    async run(api, { text, limit, cursor }) {
      const offset = fields.toOffset(cursor);
      const { repos } = await api.get<{ repos: Row[] }>("/api/v1/repos", { query: text, limit, offset });
      return {
        prompts: repos.map((each) => ({
          name: String(each["repo_handle"]),
          description: (each["description"] ?? null) as string | null,
          tags: each["tags"] as string[],
          commit_tags: each["commit_tags"] as string[],
          commits: each["num_commits"] as number,
          last_commit: (each["last_commit_hash"] ?? null) as string | null,
          updated_at: String(each["updated_at"]),
        })),
        next_cursor: fields.after(offset, repos.length, limit),
      };
    },
  }),
  tool({
    name: "read_prompt",
    title: "Read a prompt",
    description: "Reads the manifest of a prompt at a version: latest, a tag such as production, or a commit's hash.",
    permission: "prompts:read",
    input: z.strictObject({ name, version: z.string().min(1).max(300).default("latest") }),
    output: z.object({ commit: z.string(), description: nullableText, manifest: z.unknown() }),
    async run(api, { name, version }) {
      const commit = await api.get<Row>(`/api/v1/commits/${pathOf(name)}/${encodeURIComponent(version)}`);
      return {
        commit: String(commit["commit_hash"]),
        description: (commit["description"] ?? null) as string | null,
        manifest: commit["manifest"],
      };
    },
  }),
  tool({
    name: "list_prompt_commits",
    title: "List commits of a prompt",
    description: "Lists the commits of a prompt, latest first, with their descriptions and parents.",
    permission: "prompts:read",
    input: z.strictObject({ name, limit: fields.limit(20, 100), cursor: fields.cursor }),
    output: z.object({
      commits: z.array(
        z.object({ commit: z.string(), parent: nullableText, description: nullableText, created_at: z.string() }),
      ),
      next_cursor: fields.nextCursor,
    }),
    async run(api, { name, limit, cursor }) {
      const offset = fields.toOffset(cursor);
      const { commits } = await api.get<{ commits: Row[] }>(`/api/v1/commits/${pathOf(name)}`, { limit, offset });
      return {
        commits: commits.map((each) => ({
          commit: String(each["commit_hash"]),
          parent: (each["parent_commit_hash"] ?? null) as string | null,
          description: (each["description"] ?? null) as string | null,
          created_at: String(each["created_at"]),
        })),
        next_cursor: fields.after(offset, commits.length, limit),
      };
    },
  }),
  tool({
    name: "commit_prompt",
    title: "Commit a prompt",
    description:
      "Commits a new version of a prompt, which is created if it does not exist: `messages` with templates in " +
      "f-string form ({variable}), or a whole manifest as read_prompt returns it. With `parent`, the commit fails when " +
      "there is a newer commit than that hash. No version is overwritten.",
    permission: "prompts:update",
    writes: { repeatable: true },
    input: z.strictObject({
      name: z
        .string()
        .max(256)
        .regex(/^[a-z][a-z0-9_-]*$/)
        .describe("Begins with a lower-case letter; a-z, 0-9, - and _."),
      messages: z
        .array(z.strictObject({ role: z.enum(["system", "human", "ai"]), template: z.string().max(200_000) }))
        .min(1)
        .max(50)
        .optional(),
      manifest: object.optional(),
      description: z.string().max(1000).optional().describe("What the commit changes."),
      parent: z.string().min(8).max(64).optional().describe("Full hash of the commit that this one is based on."),
    }),
    output: z.object({ name: z.string(), commit: z.string() }),
    async run(api, { name, messages, manifest, description, parent }) {
      if ((messages === undefined) === (manifest === undefined))
        throw new ToolError("Pass either messages or manifest.");
      const path = `/api/v1/commits/${pathOf(name)}`;
      if (!(await exists(name))) await api.post("/api/v1/repos", { repo_handle: name, is_public: false });
      const { commit } = await api.post<{ commit: { commit_hash: string } }>(path, {
        manifest: manifest ?? chatManifest(messages!),
        ...(description !== undefined && { description }),
        ...(parent !== undefined && { parent_commit: parent }),
      });
      return { name, commit: commit.commit_hash };

      async function exists(handle: string): Promise<boolean> {
        const { repos } = await api.get<{ repos: Row[] }>("/api/v1/repos", {
          query: handle,
          is_archived: "allow",
          limit: 100,
        });
        return repos.some((each) => each["repo_handle"] === handle);
      }
    },
  }),
  tool({
    name: "list_feedback",
    title: "List feedback",
    description: "Lists feedback on runs: scores, comments and corrections. Averages: get_run_statistics.",
    permission: "feedback:read",
    input: z.strictObject({
      run_ids: z.array(fields.uuid).min(1).max(100).optional(),
      project: fields.project.optional(),
      key: z.string().min(1).max(180).optional(),
      has_comment: z.boolean().optional(),
      since: fields.time.optional(),
      max_value_characters: fields.valueCharacters,
      limit: fields.limit(50, 100),
      cursor: fields.cursor,
    }),
    output: z.object({
      feedback: z.array(
        z.object({
          id: z.string(),
          run_id: nullableText,
          trace_id: nullableText,
          key: z.string(),
          score: z.number().nullable(),
          value: z.unknown(),
          comment: nullableText,
          correction: z.unknown(),
          source: z.string(),
          created_at: z.string(),
        }),
      ),
      next_cursor: fields.nextCursor,
    }),
    async run(api, { run_ids, project, key, has_comment, since, max_value_characters: max, limit, cursor }) {
      if (!run_ids && project === undefined) throw new ToolError("Pass run_ids or project.");
      const offset = fields.toOffset(cursor);
      const feedback = await api.get<Row[]>("/api/v1/feedback", {
        run: run_ids,
        session: project === undefined ? undefined : await findProject(api, project),
        key,
        has_comment,
        min_created_at: fields.toTime(since),
        limit,
        offset,
      });
      return {
        feedback: feedback.map((each) => ({
          id: String(each["id"]),
          run_id: each["run_id"] as string | null,
          trace_id: each["trace_id"] as string | null,
          key: String(each["key"]),
          score: each["score"] as number | null,
          value: fields.clip(each["value"], max).value,
          comment: each["comment"] == null ? null : String(fields.clip(each["comment"], max).value),
          correction: fields.clip(each["correction"], max).value,
          source: String((each["feedback_source"] as { type?: string } | null)?.type ?? "api"),
          created_at: String(each["created_at"]),
        })),
        next_cursor: fields.after(offset, feedback.length, limit),
      };
    },
  }),
  tool({
    name: "add_feedback",
    title: "Add feedback",
    description:
      "Adds feedback to a run: a key with a score, a value, a comment or a correction. Earlier feedback stays.",
    permission: "feedback:create",
    writes: { repeatable: false },
    input: z.strictObject({
      run_id: fields.uuid,
      key: z.string().min(1).max(180).describe("Criterion, such as correctness."),
      score: z.union([z.number(), z.boolean()]).optional(),
      value: z.union([z.string(), z.number(), z.boolean()]).optional(),
      comment: z.string().max(100_000).optional(),
      correction: object.optional(),
    }),
    output: z.object({ id: z.string() }),
    async run(api, body) {
      const { runs } = await api.post<{ runs: Row[] }>("/api/v1/runs/query", {
        id: [body.run_id],
        select: ["id"],
        limit: 1,
      });
      // the route takes feedback on runs that have not arrived yet
      if (!runs[0]) throw new ToolError(`There is no run ${body.run_id}. query_runs finds runs.`);
      const { id } = await api.post<{ id: string }>("/api/v1/feedback", body);
      return { id };
    },
  }),
];

const MESSAGE_CLASSES = {
  system: "SystemMessagePromptTemplate",
  human: "HumanMessagePromptTemplate",
  ai: "AIMessagePromptTemplate",
};

/** Builds a ChatPromptTemplate in LangChain's serialization. */
function chatManifest(messages: { role: keyof typeof MESSAGE_CLASSES; template: string }[]): object {
  const variables = (template: string): string[] => [
    ...new Set([...template.replaceAll("{{", "").matchAll(/\{([A-Za-z_]\w*)\}/g)].map(([, variable]) => variable!)),
  ];
  const constructor = (id: string[], kwargs: object) => ({ lc: 1, type: "constructor", id, kwargs });
  return constructor(["langchain", "prompts", "chat", "ChatPromptTemplate"], {
    messages: messages.map(({ role, template }) =>
      constructor(["langchain", "prompts", "chat", MESSAGE_CLASSES[role]], {
        prompt: constructor(["langchain", "prompts", "prompt", "PromptTemplate"], {
          input_variables: variables(template),
          template_format: "f-string",
          template,
        }),
      }),
    ),
    input_variables: [...new Set(messages.flatMap(({ template }) => variables(template)))],
  });
}
