/** Command-line options by the body field that they set. */
const OPTIONS: Record<string, string> = {
  bulk_export_destination_id: "--destination",
  session_id: "--project",
  start_time: "--from",
  end_time: "--to",
  interval_hours: "--every-hours",
  filter: "--filter",
  export_fields: "--fields",
  compression: "--compression",
  format_version: "--format-version",
};

const FIELD = `(${Object.keys(OPTIONS).join("|")})`;
/**
 * Matches a field only at the beginning of an issue: within a filter, `start_time` is that of a run.
 */
const ISSUE_FIELD = new RegExp(`(^|; )${FIELD}(?:\\.\\d+)?: `, "g");
const REFERENCED_FIELD = new RegExp(`(later than|when|unless) ${FIELD}`, "g");

/** Rewrites the trace platform's error about an export request in terms of the command's options. */
export function nameOptions(message: string): string {
  const missing = /^404 (Session|Bulk export destination) with ID (\S+) not found$/.exec(message);
  if (missing?.[1] === "Session") return `There is no project ${missing[2]}.`;
  if (missing) return `There is no destination ${missing[2]}. To list them: heddle export destinations`;
  const issues = message.replace(/^422 Invalid body: /, "");
  if (issues === message) return message;
  return issues
    .replace(ISSUE_FIELD, (_, before: string, field: string) => `${before}${OPTIONS[field]}: `)
    .replace(REFERENCED_FIELD, (_, word: string, field: string) => `${word} ${OPTIONS[field]}`);
}
