interface Failed {
  name?: string;
  session_id?: string;
  error?: string | null;
}

export interface FailureGroup<Run extends Failed> {
  newest: Run;
  count: number;
}

/** Returns an error's first line. */
export const firstLine = (text: unknown): string => (typeof text === "string" ? text.split("\n", 1)[0]! : "");

/** Ids, numbers and times differ between occurrences of one error. */
const kindOf = ({ name, session_id, error }: Failed): string =>
  [session_id, name, firstLine(error).replaceAll(/[\da-f]{8}-[\da-f-]{27}|\d+/gi, "#")].join("\n");

/** Groups failed runs, newest first, by project, name and the kind of their error. */
export function groupFailures<Run extends Failed>(runs: readonly Run[]): FailureGroup<Run>[] {
  const groups = new Map<string, FailureGroup<Run>>();
  for (const run of runs) {
    const kind = kindOf(run);
    const group = groups.get(kind);
    if (group) group.count += 1;
    else groups.set(kind, { newest: run, count: 1 });
  }
  return [...groups.values()];
}
