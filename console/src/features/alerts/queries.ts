import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import type { operations } from "../../api/trace.d.ts";

type Answer<Name extends keyof operations> = operations[Name] extends {
  responses: { 200: { content: { "application/json": infer Body } } };
}
  ? Body
  : never;
type Request<Name extends keyof operations> =
  NonNullable<operations[Name] extends { requestBody?: infer Body } ? Body : never> extends {
    content: { "application/json": infer Content };
  }
    ? Content
    : never;

export type Alert = Answer<"get_v1_platform_alerts">[number];
export type AlertRule = Alert["rule"];
export type Incident = Answer<"get_v1_platform_alert_incidents">[number];
export type AlertBody = Request<"post_v1_platform_alerts_session_id">;
export type AlertPreview = Answer<"post_v1_platform_alerts_session_id_preview">;
export type TestResult = Answer<"post_v1_platform_alerts_session_id_test">["results"][number];

const REFRESH_MS = 10_000;

/** Path parameter of a rule's project. */
export const sessionOf = (projectId: string | null | undefined): string => projectId ?? "all";

/** Query for the alert rules of a project, or of the workspace. */
export const alertsQuery = (projectId?: string) =>
  queryOptions({
    queryKey: ["alerts", { projectId }],
    queryFn: ({ signal }) =>
      projectId === undefined
        ? data(traceApi.GET("/v1/platform/alerts", { params: { query: { limit: "500" } }, signal }))
        : data(
            traceApi.GET("/v1/platform/alerts/{session_id}", {
              params: { path: { session_id: projectId }, query: { limit: "500" } },
              signal,
            }),
          ),
    refetchInterval: REFRESH_MS,
  });

/** Query for an alert rule; null when there is none. */
export const alertQuery = (id: string) =>
  queryOptions({
    ...alertsQuery(),
    select: (alerts: Alert[]) => alerts.find(({ rule }) => rule.id === id) ?? null,
  });

export const incidentsQuery = (ruleId: string) =>
  queryOptions({
    queryKey: ["alerts", "incidents", ruleId],
    queryFn: ({ signal }) =>
      data(
        traceApi.GET("/v1/platform/alert-incidents", {
          params: { query: { alert_rule_id: ruleId, limit: "100" } },
          signal,
        }),
      ),
    refetchInterval: REFRESH_MS,
  });

export const alertPreviewQuery = (projectId: string | null, rule: AlertBody["rule"] | null, hours: number) =>
  queryOptions({
    queryKey: ["alerts", "preview", projectId, rule, hours],
    queryFn: ({ signal }) =>
      data(
        traceApi.POST("/v1/platform/alerts/{session_id}/preview", {
          params: { path: { session_id: sessionOf(projectId) } },
          body: { rule: rule!, hours },
          signal,
        }),
      ),
    enabled: rule !== null,
    retry: false,
    staleTime: 30_000,
    refetchOnWindowFocus: false,
    placeholderData: keepPreviousData,
  });
