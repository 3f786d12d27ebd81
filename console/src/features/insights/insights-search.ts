import { optionalText } from "../../ui/search-params.ts";

/** Search parameters of `/projects/$projectId/insights`: the shown job, by default the latest, and the open cluster. */
export interface InsightsSearch {
  job?: string | undefined;
  cluster?: string | undefined;
}

export const readInsightsSearch = (search: Record<string, unknown>): InsightsSearch => ({
  job: optionalText(search["job"]),
  cluster: optionalText(search["cluster"]),
});
