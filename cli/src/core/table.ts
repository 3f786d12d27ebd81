/** Formats columns at their minimal width, two spaces apart. */
export function formatTable(head: string[], rows: string[][]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");
}

/** Formats as `2026-11-21 13:05`, in UTC; `none` stands in for null. */
export const formatTime = (time: Date | null, none: string): string =>
  time === null ? none : time.toISOString().slice(0, 16).replace("T", " ");
