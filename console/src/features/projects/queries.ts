import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import type { operations } from "../../api/trace.d.ts";

export type Project = operations["get_api_v1_sessions"]["responses"][200]["content"]["application/json"][number];
type ListQuery = NonNullable<operations["get_api_v1_sessions"]["parameters"]["query"]>;
export type ProjectSort = NonNullable<ListQuery["sort_by"]>;

export const PAGE_SIZE = 100;

export interface ProjectSearch {
  text: string;
  sort: ProjectSort;
  desc: boolean;
  /** Whether to include experiments of datasets. */
  experiments: boolean;
  /** Comma-separated ids of workspace tags. */
  tags: string;
}

/** Orders that need no statistics: the list does not wait for them. */
const isQuick = (sort: ProjectSort): boolean => ["name", "start_time", "last_run_start_time"].includes(sort);

/** Query for projects, with statistics over all their runs where they are sorted by one. */
export const projectsQuery = ({ text, sort, desc, experiments, tags }: ProjectSearch) =>
  infiniteQueryOptions({
    queryKey: ["projects", { text, sort, desc, experiments, tags }],
    queryFn: ({ pageParam, signal }) =>
      data(
        traceApi.GET("/api/v1/sessions", {
          params: {
            query: {
              include_stats: isQuick(sort) ? "false" : "true",
              sort_by: sort,
              sort_by_desc: desc ? "true" : "false",
              limit: String(PAGE_SIZE),
              offset: String(pageParam),
              ...(tags !== "" && { tag_value_id: tags.split(",") }),
              ...(text !== "" && { name_contains: text }),
              ...(!experiments && { reference_free: "true" as const }),
            },
          },
          signal,
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: (page, pages) => (page.length < PAGE_SIZE ? undefined : pages.length * PAGE_SIZE),
    refetchInterval: 10_000,
  });

/** Query for the statistics of a page of projects, over all their runs. */
export const projectStatsQuery = (ids: string[]) =>
  queryOptions({
    queryKey: ["projects", "statistics", ids],
    async queryFn({ signal }): Promise<Map<string, Project>> {
      const query = { id: ids, include_stats: "true" as const, limit: String(PAGE_SIZE) };
      const found = await data(traceApi.GET("/api/v1/sessions", { params: { query }, signal }));
      return new Map(found.map((project) => [project.id, project]));
    },
    refetchInterval: 10_000,
  });

/** Query for a project without statistics, which would be read from all of its runs. */
export const projectQuery = (id: string) =>
  queryOptions({
    queryKey: ["project", id],
    queryFn: ({ signal }) =>
      data(
        traceApi.GET("/api/v1/sessions/{session_id}", {
          params: { path: { session_id: id } },
          signal,
        }),
      ),
    refetchInterval: 15_000,
  });

export const createProject = (body: { name: string; description: string | null }) =>
  data(traceApi.POST("/api/v1/sessions", { body }));

export const updateProject = (id: string, body: { name: string; description: string | null }) =>
  data(traceApi.PATCH("/api/v1/sessions/{session_id}", { params: { path: { session_id: id } }, body }));

export const deleteProject = (id: string) =>
  data(traceApi.DELETE("/api/v1/sessions/{session_id}", { params: { path: { session_id: id } } }));
