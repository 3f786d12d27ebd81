import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";

import { ApiError } from "../../api/api-error.ts";
import { data, traceApi } from "../../api/clients.ts";
import type { operations } from "../../api/trace.d.ts";
import type { PromptSearch } from "./prompt-search.ts";

type Answer<Name extends keyof operations, Status extends number = 200> = operations[Name] extends {
  responses: Record<Status, { content: { "application/json": infer Body } }>;
}
  ? Body
  : never;

type ListQuery = NonNullable<operations["get_api_v1_repos"]["parameters"]["query"]>;
export type PromptRow = Omit<Answer<"get_api_v1_repos">["repos"][number], "latest_commit_manifest">;
export type Commit = NonNullable<Answer<"get_api_v1_commits_owner_repo">["commits"]>[number];
export type CommitContent = Answer<"get_api_v1_commits_owner_repo_commit">;
export type PromptTag = Answer<"get_api_v1_repos_owner_repo_tags">[number];
export type TagMove = NonNullable<Answer<"get_api_v1_repos_owner_repo_tags_tag_name_history">["transitions"]>[number];
export type CommitStatistics = Answer<"get_api_v1_repos_owner_repo_statistics">["commits"][number];

/** Identifies a prompt; `-` is the own workspace. */
export interface PromptName {
  owner: string;
  repo: string;
}

export const PAGE_SIZE = 50;
const key = ({ owner, repo }: PromptName) => ["prompt", owner, repo] as const;
export const promptKey = key;

export const promptName = ({ owner, repo_handle: repo }: Pick<PromptRow, "owner" | "repo_handle">): PromptName => ({
  owner: owner ?? "-",
  repo,
});

/** Formats a name as clients take it: `owner/name`, or `name` in the own workspace. */
export const pullName = ({ owner, repo }: PromptName): string => (owner === "-" ? repo : `${owner}/${repo}`);

export const shortHash = (hash: string | null | undefined): string => hash?.slice(0, 8) ?? "–";

export const promptsQuery = ({ text, tag, visibility, archived, type, sort, desc, tags }: PromptSearch) =>
  infiniteQueryOptions({
    queryKey: ["prompts", { text, tag, visibility, archived, type, sort, desc, tags }],
    queryFn: ({ pageParam, signal }) => {
      const query: ListQuery = {
        limit: String(PAGE_SIZE),
        offset: String(pageParam),
        sort_field: sort,
        sort_direction: desc ? "desc" : "asc",
        is_archived: archived,
        ...(tags !== "" && { tag_value_id: tags.split(",") }),
        ...(text.trim() !== "" && { query: text.trim() }),
        ...(tag !== "" && { tags: [tag] }),
        ...(visibility !== "all" && { is_public: visibility === "public" ? "true" : "false" }),
        ...(type !== "" && { repo_type: type }),
      };
      return data(traceApi.GET("/api/v1/repos", { params: { query }, signal }));
    },
    initialPageParam: 0,
    getNextPageParam: (last, pages) =>
      last.repos.length < PAGE_SIZE ? undefined : pages.reduce((sum, { repos }) => sum + repos.length, 0),
    placeholderData: keepPreviousData,
  });

/** Query for the tags of prompts, most frequent first. */
export const promptTagNamesQuery = queryOptions({
  queryKey: ["prompts", "tags"],
  queryFn: async ({ signal }) =>
    (await data(traceApi.GET("/api/v1/repos/tags", { params: { query: { limit: "100" } }, signal }))).tags,
  staleTime: 60_000,
});

export const promptQuery = (name: PromptName) =>
  queryOptions({
    queryKey: [...key(name), "repo"],
    queryFn: async ({ signal }) =>
      (await data(traceApi.GET("/api/v1/repos/{owner}/{repo}", { params: { path: name }, signal }))).repo,
  });

/** Newest first. */
export const commitsQuery = (name: PromptName) =>
  infiniteQueryOptions({
    queryKey: [...key(name), "commits"],
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: String(PAGE_SIZE), offset: String(pageParam) };
      return data(traceApi.GET("/api/v1/commits/{owner}/{repo}", { params: { path: name, query }, signal }));
    },
    initialPageParam: 0,
    getNextPageParam: (last, pages) =>
      (last.commits ?? []).length < PAGE_SIZE
        ? undefined
        : pages.reduce((sum, { commits }) => sum + (commits ?? []).length, 0),
    placeholderData: keepPreviousData,
  });

/**
 * Query for the content of a commit. A hash names the same content forever; tags and `latest` move.
 * @param commit a tag, a hash, its first eight digits or more, or `latest`
 */
export const commitQuery = (name: PromptName, commit: string) =>
  queryOptions({
    queryKey: [...key(name), "commit", commit],
    async queryFn({ signal }): Promise<CommitContent | null> {
      const params = { path: { ...name, commit }, query: { include_model: "true" as const } };
      const found = await traceApi
        .GET("/api/v1/commits/{owner}/{repo}/{commit}", { params, signal })
        .catch((error: unknown) => {
          // a prompt without commits
          if (commit === "latest" && error instanceof ApiError && error.status === 404) return { data: null };
          throw error;
        });
      return found.data ?? null;
    },
    staleTime: /^[0-9a-f]{64}$/.test(commit) ? Infinity : 0,
  });

export const promptTagsQuery = (name: PromptName) =>
  queryOptions({
    queryKey: [...key(name), "tags"],
    queryFn: ({ signal }) =>
      data(traceApi.GET("/api/v1/repos/{owner}/{repo}/tags", { params: { path: name }, signal })),
  });

/** Moves of a tag, newest first. */
export const tagHistoryQuery = (name: PromptName, tag: string) =>
  queryOptions({
    queryKey: [...key(name), "tags", tag, "history"],
    async queryFn({ signal }) {
      const params = { path: { ...name, tag_name: tag }, query: { limit: "50" } };
      const path = "/api/v1/repos/{owner}/{repo}/tags/{tag_name}/history";
      return (await data(traceApi.GET(path, { params, signal }))).transitions ?? [];
    },
  });

/** Statistics of the runs that name a commit of the prompt in their metadata, of the last `days`. */
export const promptStatisticsQuery = (name: PromptName, days: number) =>
  queryOptions({
    queryKey: [...key(name), "statistics", days],
    async queryFn({ signal }) {
      const [end, start] = [new Date(), new Date(Date.now() - days * 86_400_000)];
      const params = { path: name, query: { start_time: start.toISOString(), end_time: end.toISOString() } };
      return (await data(traceApi.GET("/api/v1/repos/{owner}/{repo}/statistics", { params, signal }))).commits;
    },
    refetchInterval: 30_000,
    placeholderData: keepPreviousData,
  });

export interface Environments {
  /** Id of the workspace's configuration; null while it has the default environments. */
  id: string | null;
  names: string[];
}

/** Query for the names of the environments: tags that every prompt may have. */
export const environmentsQuery = queryOptions({
  queryKey: ["prompt-environments"],
  async queryFn({ signal }): Promise<Environments> {
    const found = await traceApi.GET("/api/v1/hub/environments", { signal }).catch((error: unknown) => {
      // a workspace without a configuration
      if (error instanceof ApiError && error.status === 404) return null;
      throw error;
    });
    if (!found?.data) return { id: null, names: ["staging", "production"] };
    return { id: found.data.id, names: found.data.environments.map(({ name }) => name) };
  },
});

/** Files of an agent's or a skill's directory. */
export const directoryQuery = (name: PromptName, commit: string) =>
  queryOptions({
    queryKey: [...key(name), "directory", commit],
    queryFn: ({ signal }) => {
      const params = { path: name, query: commit === "latest" ? {} : { commit } };
      return data(traceApi.GET("/v1/platform/hub/repos/{owner}/{repo}/directories", { params, signal }));
    },
  });

/** Query for the workspace with its handle, the owner in names of prompts. */
export const hubSettingsQuery = queryOptions({
  queryKey: ["prompt-settings"],
  queryFn: ({ signal }) => data(traceApi.GET("/api/v1/settings", { signal })),
});
