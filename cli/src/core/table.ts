/** Columns as wide as they need to be, two spaces between. */
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

/** `2026-11-21 13:05`, in UTC; what stands in for none. */
export const formatTime = (time: Date | null, none: string): string =>
  time === null ? none : time.toISOString().slice(0, 16).replace("T", " ");
