/** Returns the columns in the saved order. A column that it does not name stays after its default predecessor. */
export function inOrder<T extends { id: string }>(columns: readonly T[], order: readonly string[]): T[] {
  const known = order.filter((id) => columns.some((column) => column.id === id));
  const result = known.map((id) => columns.find((column) => column.id === id)!);
  for (const [index, column] of columns.entries()) {
    if (known.includes(column.id)) continue;
    const before = columns[index - 1];
    result.splice(before ? result.indexOf(before) + 1 : 0, 0, column);
  }
  return result;
}

/** Returns the ids with `id` moved by `by` places. */
export function moveColumn(ids: readonly string[], id: string, by: -1 | 1): string[] {
  const at = ids.indexOf(id);
  const others = ids.filter((other) => other !== id);
  return others.toSpliced(Math.max(0, Math.min(others.length, at + by)), 0, id);
}
