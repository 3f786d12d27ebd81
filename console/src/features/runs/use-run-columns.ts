import { useLocalStorage } from "@mantine/hooks";

import { inOrder } from "../../ui/column-order.ts";
import { HIDDEN_BY_DEFAULT, RUN_COLUMNS } from "./run-columns.tsx";
import type { RunSearch } from "./run-search.ts";

const IDS = RUN_COLUMNS.map(([id]) => ({ id })).filter(({ id }) => id !== "name");

/**
 * Columns of the list of runs: those of the open view, which are in the URL, else those of this browser. Changes go to
 * where they came from.
 */
export function useRunColumns(search: RunSearch, onChange: (changes: Partial<RunSearch>) => void) {
  const [ownHidden, setOwnHidden] = useLocalStorage({
    key: "heddle.runs.hidden",
    defaultValue: HIDDEN_BY_DEFAULT,
    getInitialValueInEffect: false,
  });
  const [ownOrder, setOwnOrder] = useLocalStorage<string[]>({
    key: "heddle.runs.order",
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const inUrl = search.columns === "" ? null : search.columns.split(",");
  const order = inUrl ?? ownOrder;
  const hidden = inUrl ? IDS.map(({ id }) => id).filter((id) => !inUrl.includes(id)) : ownHidden;
  const visible = (shown: { hidden: readonly string[]; order: readonly string[] }): string[] => [
    "name",
    ...inOrder(IDS, shown.order)
      .map(({ id }) => id)
      .filter((id) => !shown.hidden.includes(id)),
  ];
  const change = (next: { hidden: string[]; order: string[] }) => onChange({ columns: visible(next).join(",") });
  return {
    hidden,
    order,
    visible: visible({ hidden, order }),
    setHidden: (next: string[]) => (inUrl ? change({ hidden: next, order }) : setOwnHidden(next)),
    setOrder: (next: string[]) => (inUrl ? change({ hidden, order: next }) : setOwnOrder(next)),
  };
}
