import { queryOptions } from "@tanstack/react-query";

import { ApiError } from "../../api/api-error.ts";
import { data, traceApi } from "../../api/clients.ts";
import type { View, ViewBody } from "./view-record.ts";

/** Query for the saved views of a project that the reader sees. */
export const viewsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["views", projectId],
    queryFn: ({ signal }): Promise<View[]> =>
      data(
        traceApi.GET("/api/v1/sessions/{session_id}/views", { params: { path: { session_id: projectId } }, signal }),
      ),
    staleTime: 30_000,
  });

export const saveView = (projectId: string, body: ViewBody): Promise<View> =>
  data(traceApi.POST("/api/v1/sessions/{session_id}/views", { params: { path: { session_id: projectId } }, body }));

const pathOf = (projectId: string, id: string) => ({ params: { path: { session_id: projectId, view_id: id } } });

export const updateView = (
  projectId: string,
  id: string,
  body: Partial<ViewBody> & { is_default?: boolean; if_updated_at?: string },
) => data(traceApi.PATCH("/api/v1/sessions/{session_id}/views/{view_id}", { ...pathOf(projectId, id), body }));

export const deleteView = (projectId: string, id: string) =>
  data(traceApi.DELETE("/api/v1/sessions/{session_id}/views/{view_id}", pathOf(projectId, id)));

/** Saves a view under an id of our own: when the first answer was lost, the second attempt finds it saved. */
export async function saveViewOnce(projectId: string, body: ViewBody & { id: string }): Promise<void> {
  try {
    await saveView(projectId, body);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error;
  }
}
