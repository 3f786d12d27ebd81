import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import type { operations } from "../../api/trace.d.ts";

type ResponseBody<Name extends keyof operations> = operations[Name] extends {
  responses: { 200: { content: { "application/json": infer Body } } };
}
  ? Body
  : never;
type RequestBody<Name extends keyof operations> = operations[Name] extends {
  requestBody?: { content: { "application/json": infer Body } };
}
  ? Body
  : never;

export type Export = ResponseBody<"get_api_v1_bulk_exports">[number];
export type Destination = ResponseBody<"get_api_v1_bulk_exports_destinations">[number];
export type ExportBody = RequestBody<"post_api_v1_bulk_exports">;
/** Body that the form produces; the API accepts more fields. */
export interface DestinationBody {
  destination_type: "s3";
  display_name: string;
  config: {
    bucket_name: string | null;
    prefix: string;
    region: string | null;
    endpoint_url: string | null;
    include_bucket_in_prefix: boolean;
  };
  credentials?: Credentials;
}
export type Credentials = RequestBody<"patch_api_v1_bulk_exports_destinations_destination_id">["credentials"];

/**
 * Whether an export is in progress. Statuses are upper case by default, title case where the installation configures
 * it.
 */
export const isInProgress = ({ status }: { status: string }): boolean =>
  /^(created|running|intervalscheduled)$/i.test(status);

const pollInterval = (isActive: boolean) => (isActive ? 2_000 : 15_000);

export const exportsQuery = queryOptions({
  queryKey: ["exports"],
  queryFn: ({ signal }) => data(traceApi.GET("/api/v1/bulk-exports", { signal })),
  refetchInterval: ({ state }) => pollInterval(state.data?.some(isInProgress) ?? false),
});

export const exportQuery = (id: string) =>
  queryOptions({
    queryKey: ["exports", id],
    queryFn: ({ signal }) =>
      data(traceApi.GET("/api/v1/bulk-exports/{bulk_export_id}", { params: { path: { bulk_export_id: id } }, signal })),
    refetchInterval: ({ state }) => pollInterval(state.data === undefined || isInProgress(state.data)),
  });

const readRuns = (id: string, signal: AbortSignal) =>
  data(
    traceApi.GET("/api/v1/bulk-exports/{bulk_export_id}/runs", { params: { path: { bulk_export_id: id } }, signal }),
  );

export const exportRunsQuery = (id: string, isActive: boolean) =>
  queryOptions({
    // refetched at once when the export has ended
    queryKey: ["exports", id, "runs", isActive],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => readRuns(id, signal),
    refetchInterval: pollInterval(isActive),
  });
export type ExportRun = Awaited<ReturnType<typeof readRuns>>[number];

export const destinationsQuery = queryOptions({
  queryKey: ["export-destinations"],
  queryFn: ({ signal }) => data(traceApi.GET("/api/v1/bulk-exports/destinations", { signal })),
});

export const projectNamesQuery = queryOptions({
  queryKey: ["project-names"],
  queryFn: ({ signal }) =>
    data(traceApi.GET("/api/v1/sessions", { params: { query: { limit: 100 as never, sort_by: "name" } }, signal })),
  staleTime: 30_000,
});

export const createExport = (body: ExportBody) => data(traceApi.POST("/api/v1/bulk-exports", { body }));

export const cancelExport = (id: string) =>
  data(
    traceApi.PATCH("/api/v1/bulk-exports/{bulk_export_id}", {
      params: { path: { bulk_export_id: id } },
      body: { status: "CANCELLED" },
    }),
  );

/** Counts the rows that an export with these options would have now. */
async function countRows(
  { session_id, start_time, end_time, filter }: Pick<ExportBody, "session_id" | "start_time" | "end_time" | "filter">,
  signal: AbortSignal,
): Promise<number> {
  // an export's end is exclusive, a query's inclusive
  const end = end_time == null ? undefined : new Date(Date.parse(end_time) - 1).toISOString();
  const stats = await data(
    traceApi.POST("/api/v1/runs/stats", {
      body: { session: [session_id], start_time, end_time: end, filter, select: ["run_count"] },
      signal,
    }),
  );
  return Number((stats as { run_count?: number }).run_count ?? 0);
}

/** Query for the number of rows of an export, whose options are given as JSON. */
export const exportPreviewQuery = (body: string) =>
  queryOptions({
    queryKey: ["export-preview", body],
    queryFn: ({ signal }) => countRows(JSON.parse(body) as ExportBody, signal),
    retry: false,
  });

const destinationPath = (id: string) => ({ params: { path: { destination_id: id } } });

export const createDestination = (body: DestinationBody) =>
  data(traceApi.POST("/api/v1/bulk-exports/destinations", { body }));
export const testDestination = (id: string) =>
  data(traceApi.POST("/api/v1/bulk-exports/destinations/{destination_id}/test", destinationPath(id)));
export const deleteDestination = (id: string) =>
  data(traceApi.DELETE("/api/v1/bulk-exports/destinations/{destination_id}", destinationPath(id)));
export const rotateCredentials = (id: string, credentials: Credentials) =>
  data(
    traceApi.PATCH("/api/v1/bulk-exports/destinations/{destination_id}", {
      ...destinationPath(id),
      body: { credentials },
    }),
  );
