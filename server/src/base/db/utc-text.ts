/**
 * SQL of a time as ISO 8601 text in UTC with microseconds, which a Date would lose: `2026-01-31T10:00:00.000001Z`.
 * @param column an expression of ours, not a caller's text
 */
export const utcText = (column: string, zone: "Z" | "+00:00" = "Z"): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"${zone}"')`;
