import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import type { operations } from "../../api/trace.d.ts";

const PAGE_SIZE = 100;

type Answer<Name extends keyof operations> = operations[Name] extends {
  responses: { 200: { content: { "application/json": infer Body } } };
}
  ? Body
  : never;

export type Evaluator = Answer<"get_v1_platform_evaluators">["evaluators"][number];
export type Agreement = NonNullable<Evaluator["alignment"]>;
export type EvaluatorVersion = Answer<"get_v1_platform_evaluators_evaluator_id_versions">["versions"][number];
export type LibraryEntry = Answer<"get_v1_platform_evaluators_library">["evaluators"][number];
export type Alignment = Answer<"get_v1_platform_evaluators_evaluator_id_alignment">;
export type Tried = Answer<"post_v1_platform_evaluators_try">;
export type Checked = Answer<"post_v1_platform_evaluators_library_library_id_check">;
export type Definition = Evaluator["definition"];

export const evaluatorsQuery = (text: string) =>
  infiniteQueryOptions({
    queryKey: ["evaluators", { text }],
    queryFn: ({ pageParam, signal }) => {
      const query = {
        limit: String(PAGE_SIZE),
        offset: String(pageParam),
        ...(text !== "" && { name_contains: text }),
      };
      return data(traceApi.GET("/v1/platform/evaluators", { params: { query }, signal }));
    },
    initialPageParam: 0,
    getNextPageParam: (page: { evaluators: unknown[] }, pages: unknown[]) =>
      page.evaluators.length < PAGE_SIZE ? undefined : pages.length * PAGE_SIZE,
    placeholderData: keepPreviousData,
  });

/** Query for the agreement of listed evaluators with people, by id. It reads more than the list, which does not wait. */
export const agreementQuery = (text: string, pages: number) =>
  queryOptions({
    queryKey: ["evaluators", "agreement", { text, pages }],
    queryFn: async ({ signal }) => {
      const found = new Map<string, Agreement>();
      for (let page = 0; page < pages; page++) {
        const query = {
          limit: String(PAGE_SIZE),
          offset: String(page * PAGE_SIZE),
          include_alignment: "true" as const,
          ...(text !== "" && { name_contains: text }),
        };
        const { evaluators } = await data(traceApi.GET("/v1/platform/evaluators", { params: { query }, signal }));
        for (const { id, alignment } of evaluators) if (alignment) found.set(id, alignment);
      }
      return found;
    },
    enabled: pages > 0,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  });

const path = (id: string) => ({ path: { evaluator_id: id } });

export const evaluatorQuery = (id: string) =>
  queryOptions({
    queryKey: ["evaluator", id],
    queryFn: ({ signal }) => data(traceApi.GET("/v1/platform/evaluators/{evaluator_id}", { params: path(id), signal })),
  });

export const versionsQuery = (id: string) =>
  queryOptions({
    queryKey: ["evaluator", id, "versions"],
    queryFn: ({ signal }) =>
      data(traceApi.GET("/v1/platform/evaluators/{evaluator_id}/versions", { params: path(id), signal })),
  });

export const libraryQuery = queryOptions({
  queryKey: ["evaluator-library"],
  queryFn: ({ signal }) => data(traceApi.GET("/v1/platform/evaluators/library", { signal })),
  staleTime: Infinity,
});

export interface AlignmentScope {
  annotation_queue_id?: string;
  dataset_id?: string;
}

export const alignmentQuery = (id: string, scope: AlignmentScope, offset: number) =>
  queryOptions({
    queryKey: ["evaluator", id, "alignment", scope, offset],
    queryFn: ({ signal }) =>
      data(
        traceApi.GET("/v1/platform/evaluators/{evaluator_id}/alignment", {
          params: { ...path(id), query: { ...scope, limit: "20", offset: String(offset) } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });

/** Query for the newest projects, whose runs an evaluator can be tried on. */
export const projectChoicesQuery = queryOptions({
  queryKey: ["projects", "evaluator-choices"],
  queryFn: ({ signal }) => data(traceApi.GET("/api/v1/sessions", { params: { query: { limit: "100" } }, signal })),
});

/** Query for the newest root of a project, whose fields the paths of a mapping name. */
export const sampleRunQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["evaluator-sample", projectId],
    queryFn: async ({ signal }) => {
      const select = ["inputs", "outputs", "extra"] as const;
      const heads = { is_root: true, include_provisional_roots: true };
      const body = { session: [projectId], ...heads, limit: 1, select: [...select] };
      const found = await data(traceApi.POST("/api/v1/runs/query", { body: body as never, signal }));
      return (
        (found as { runs: { inputs?: unknown; outputs?: unknown; extra?: { metadata?: unknown } }[] }).runs[0] ?? null
      );
    },
  });
