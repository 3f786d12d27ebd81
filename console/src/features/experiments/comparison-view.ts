import type { View } from "./queries.ts";

/** Columns whose visibility is saved: texts by their names, scores by `feedback.KEY`. */
const columnName = (id: string, keys: readonly string[]): string => (keys.includes(id) ? `feedback.${id}` : id);

/** Returns the hidden columns of a saved view, and the keys without colours. */
export function readView(view: View | null, keys: readonly string[]): { hidden: string[]; plain: string[] } {
  const overrides = view?.column_overrides ?? [];
  const ids = ["inputs", "reference_outputs", ...keys];
  const isSet = (id: string, setting: "hide" | "disable_colors") =>
    overrides.some((override) => override.column === columnName(id, keys) && override[setting] === true);
  return { hidden: ids.filter((id) => isSet(id, "hide")), plain: ids.filter((id) => isSet(id, "disable_colors")) };
}

/** Returns the overrides after a change of what is hidden; settings of other columns and kinds stay. */
export function changeView(
  view: View | null,
  keys: readonly string[],
  hidden: readonly string[],
  hasColors: boolean,
): View["column_overrides"] {
  const ids = ["inputs", "reference_outputs", ...keys];
  const others = (view?.column_overrides ?? []).filter(
    ({ column }) => !ids.some((id) => columnName(id, keys) === column),
  );
  const own = ids.flatMap((id) => {
    const column = columnName(id, keys);
    const before = view?.column_overrides.find((override) => override.column === column);
    const rest = Object.fromEntries(
      Object.entries(before ?? {}).filter(([name]) => name !== "hide" && name !== "disable_colors"),
    );
    const override = {
      ...rest,
      column,
      ...(hidden.includes(id) && { hide: true }),
      ...(!hasColors && keys.includes(id) && { disable_colors: true }),
    };
    return Object.keys(override).length > 1 ? [override] : [];
  });
  return [...others, ...own].slice(0, 50);
}
