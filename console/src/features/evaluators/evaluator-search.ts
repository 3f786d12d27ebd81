import { pickAllowed } from "../../ui/search-params.ts";

export const EVALUATOR_TABS = ["edit", "versions", "alignment"] as const;
export type EvaluatorTab = (typeof EVALUATOR_TABS)[number];

export const readEvaluatorSearch = (search: { tab?: unknown }): { tab?: EvaluatorTab } => ({
  tab: pickAllowed(EVALUATOR_TABS, search.tab) ?? "edit",
});
