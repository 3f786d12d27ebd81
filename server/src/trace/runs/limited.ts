import { limitConditions } from "../filter/limit-conditions.ts";
import type { RunSelection } from "./selection.ts";

type Filters = Pick<RunSelection, "filters" | "trace_filter" | "tree_filter">;

/** Returns the selection unchanged. @throws 422 when it has more conditions than a request may have */
export function limited<Selection extends Filters>(selection: Selection): Selection {
  limitConditions([...(selection.filters ?? []), selection.trace_filter, selection.tree_filter]);
  return selection;
}
