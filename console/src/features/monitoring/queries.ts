import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { ApiError } from "../../api/api-error.ts";
import { data, traceApi } from "../../api/clients.ts";
import type { operations } from "../../api/trace.d.ts";
import { rangeBounds, bucketSeconds, type TimeRange } from "../../ui/time-range.ts";

type Body = NonNullable<operations["post_api_v1_runs_stats_timeline"]["requestBody"]>["content"]["application/json"];
export type Timeline = operations["post_api_v1_runs_stats_timeline"]["responses"][200]["content"]["application/json"];
export type Point = Timeline["series"][number]["points"][number];
export type Group = NonNullable<Body["group_by"]>;
export type TimelineSelection = Pick<
  Body,
  "is_root" | "include_provisional_roots" | "run_type" | "filter" | "select" | "group_by"
>;

export interface TimelineInRange extends Timeline {
  /** Times of all buckets in the range, including empty ones; seconds since 1970. */
  times: number[];
}

/**
 * Query for statistics of a project's runs over the range, which advances with the clock if it ends now.
 * @param isBefore reads the preceding period of the same length instead
 */
export const timelineQuery = (projectId: string, range: TimeRange, selection: TimelineSelection, isBefore = false) =>
  queryOptions({
    queryKey: ["timeline", projectId, range, selection, isBefore],
    async queryFn({ signal }): Promise<TimelineInRange> {
      const bounds = rangeBounds(range, Date.now());
      const seconds = bucketSeconds(range, bounds.to);
      // a whole number of buckets, so that the buckets of both periods align
      const shift = isBefore ? Math.ceil((bounds.to - bounds.from) / 1000 / seconds) * seconds * 1000 : 0;
      const [from, to] = [bounds.from - shift, bounds.to - shift];
      const body = {
        session: [projectId],
        start_time: new Date(from).toISOString(),
        end_time: new Date(to).toISOString(),
        bucket_seconds: seconds,
        ...selection,
      };
      const timeline = await data(traceApi.POST("/api/v1/runs/stats/timeline", { body, signal }));
      const first = Math.floor(from / 1000 / seconds) * seconds;
      const length = Math.max(1, Math.floor((to / 1000 - first) / seconds) + 1);
      return { ...timeline, times: Array.from({ length }, (_, index) => first + index * seconds) };
    },
    placeholderData: keepPreviousData,
    refetchInterval: "last" in range ? 30_000 : false,
    staleTime: 20_000,
  });

export type TagMove =
  operations["get_api_v1_repos_tag_moves"]["responses"][200]["content"]["application/json"]["tag_moves"][number];

/** Number of tag moves that charts show, the newest ones. */
const TAG_MOVES = 100;

/** Query for moves of prompts' tags in the range, newest first. Callers who may not read prompts get none. */
export const tagMovesQuery = (range: TimeRange) =>
  queryOptions({
    queryKey: ["prompts", "tag-moves", range],
    async queryFn({ signal }): Promise<TagMove[]> {
      const { from, to } = rangeBounds(range, Date.now());
      const query = {
        start_time: new Date(from).toISOString(),
        end_time: new Date(to).toISOString(),
        limit: String(TAG_MOVES),
      };
      const found = await traceApi
        .GET("/api/v1/repos/tag-moves", { params: { query }, signal })
        .catch((error: unknown) => {
          if (error instanceof ApiError && error.status === 403) return null;
          throw error;
        });
      return found?.data?.tag_moves ?? [];
    },
    refetchInterval: "last" in range ? 30_000 : false,
  });
