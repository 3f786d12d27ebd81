import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import type { operations } from "../../api/trace.d.ts";

export const PAGE_SIZE = 100;

type ListQuery = NonNullable<operations["get_api_v1_datasets"]["parameters"]["query"]>;
export type DatasetSort = NonNullable<ListQuery["sort_by"]>;
export type Dataset = operations["get_api_v1_datasets"]["responses"][200]["content"]["application/json"][number];
export type Example = operations["get_api_v1_examples"]["responses"][200]["content"]["application/json"][number];
export type Version =
  operations["get_api_v1_datasets_dataset_id_versions"]["responses"][200]["content"]["application/json"][number];

export interface DatasetSearch {
  text: string;
  sort: DatasetSort;
  desc: boolean;
  /** Comma-separated ids of workspace tags. */
  tags: string;
}

const nextOffset = (page: unknown[], pages: unknown[][]) =>
  page.length < PAGE_SIZE ? undefined : pages.length * PAGE_SIZE;

export const datasetsQuery = ({ text, sort, desc, tags }: DatasetSearch) =>
  infiniteQueryOptions({
    queryKey: ["datasets", { text, sort, desc, tags }],
    queryFn: ({ pageParam, signal }) => {
      const query: ListQuery = {
        sort_by: sort,
        sort_by_desc: desc ? "true" : "false",
        limit: String(PAGE_SIZE),
        offset: String(pageParam),
        ...(tags !== "" && { tag_value_id: tags.split(",") }),
        ...(text !== "" && { name_contains: text }),
      };
      return data(traceApi.GET("/api/v1/datasets", { params: { query }, signal }));
    },
    initialPageParam: 0,
    getNextPageParam: nextOffset,
    placeholderData: keepPreviousData,
  });

export const datasetQuery = (id: string) =>
  queryOptions({
    queryKey: ["dataset", id],
    queryFn: ({ signal }) =>
      data(traceApi.GET("/api/v1/datasets/{dataset_id}", { params: { path: { dataset_id: id } }, signal })),
  });

/** Returns an example's splits, which are stored in its metadata, as clients read them. */
export const readSplits = ({ metadata }: Example): string[] => {
  const split = (metadata as { dataset_split?: unknown } | null | undefined)?.dataset_split;
  return Array.isArray(split) ? split.map(String) : [];
};

export interface ExampleFilter {
  text: string;
  /** Empty: all splits. */
  split: string;
  /** Time or tag; empty: current version. */
  version: string;
}

export const examplesQuery = (id: string, { text, split, version }: ExampleFilter) =>
  infiniteQueryOptions({
    queryKey: ["dataset", id, "examples", { text, split, version }],
    queryFn: ({ pageParam, signal }) => {
      const query = {
        dataset: id,
        limit: String(PAGE_SIZE),
        offset: String(pageParam),
        ...(text.trim() !== "" && { full_text_contains: [text.trim()] }),
        ...(split !== "" && { splits: [split] }),
        ...(version !== "" && { as_of: version }),
      };
      return data(traceApi.GET("/api/v1/examples", { params: { query }, signal }));
    },
    initialPageParam: 0,
    getNextPageParam: nextOffset,
    placeholderData: keepPreviousData,
  });

export const splitsQuery = (id: string, version: string) =>
  queryOptions({
    queryKey: ["dataset", id, "splits", version],
    queryFn: ({ signal }) => {
      const params = { path: { dataset_id: id }, query: version === "" ? {} : { as_of: version } };
      return data(traceApi.GET("/api/v1/datasets/{dataset_id}/splits", { params, signal }));
    },
  });

/** Newest first. */
export const versionsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["dataset", id, "versions"],
    queryFn: ({ pageParam, signal }) => {
      const params = { path: { dataset_id: id }, query: { limit: String(PAGE_SIZE), offset: String(pageParam) } };
      return data(traceApi.GET("/api/v1/datasets/{dataset_id}/versions", { params, signal }));
    },
    initialPageParam: 0,
    getNextPageParam: nextOffset,
  });

export const versionDiffQuery = (id: string, from: string, to: string) =>
  queryOptions({
    queryKey: ["dataset", id, "diff", from, to],
    queryFn: ({ signal }) => {
      const params = { path: { dataset_id: id }, query: { from_version: from, to_version: to } };
      return data(traceApi.GET("/api/v1/datasets/{dataset_id}/versions/diff", { params, signal }));
    },
    staleTime: Infinity,
  });

/** Query for an example in a given version. */
export const exampleAtQuery = (datasetId: string, exampleId: string, version: string) =>
  queryOptions({
    queryKey: ["dataset", datasetId, "example", exampleId, version],
    async queryFn({ signal }) {
      const query = { dataset: datasetId, id: [exampleId], as_of: version, limit: "1" };
      const [example] = await data(traceApi.GET("/api/v1/examples", { params: { query }, signal }));
      if (!example) throw new Error(`Example ${exampleId} does not exist in version ${version}.`);
      return example;
    },
    staleTime: Infinity,
  });

/** Query for experiments: projects whose runs refer to the dataset's examples. */
export const experimentsQuery = (id: string) =>
  queryOptions({
    queryKey: ["dataset", id, "experiments"],
    queryFn: ({ signal }) =>
      data(
        traceApi.GET("/api/v1/sessions", {
          params: {
            query: {
              reference_dataset: [id],
              include_stats: "true",
              sort_by: "start_time",
              sort_by_desc: "true",
              limit: "100",
            },
          },
          signal,
        }),
      ),
    refetchInterval: 10_000,
  });

/** Query for the token of the dataset's public link; null while it is not shared. */
export const datasetShareQuery = (id: string) =>
  queryOptions<string | null>({
    queryKey: ["share-dataset", id],
    queryFn: async () => {
      const params = { path: { dataset_id: id } };
      return (await traceApi.GET("/api/v1/datasets/{dataset_id}/share", { params })).data?.share_token ?? null;
    },
  });

export type Proposal =
  operations["get_api_v1_datasets_dataset_id_proposals"]["responses"][200]["content"]["application/json"]["items"][number];

/** Query for groups of examples with similar inputs. */
export const nearDuplicatesQuery = (id: string, threshold: number) =>
  queryOptions({
    queryKey: ["dataset", id, "near-duplicates", threshold],
    queryFn: ({ signal }) =>
      data(
        traceApi.GET("/api/v1/datasets/{dataset_id}/near-duplicates", {
          params: { path: { dataset_id: id }, query: { threshold: String(threshold) } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });

/** Query for proposed examples that have not been reviewed. */
export const proposalsQuery = (id: string) =>
  queryOptions({
    queryKey: ["dataset", id, "proposals"],
    queryFn: ({ signal }) =>
      data(
        traceApi.GET("/api/v1/datasets/{dataset_id}/proposals", {
          params: { path: { dataset_id: id }, query: { limit: "100" } },
          signal,
        }),
      ),
  });
