import type { Violation, World } from "./check/world.ts";

interface Line {
  t: number;
  text: string;
}

/** Length of the period before a story's first event in which faults still matter. */
const BEFORE_MS = 15_000;
const MOST_LINES = 60;

/** Lists all events of the run or thread of a violation in time order, with the faults beside them. */
export function describeStory(world: World, violation: Violation): string[] {
  const { run, thread, server, t } = violation;
  // a stream or a cancel concerns only its run; the other laws concern the whole thread
  const isOfRun = run !== undefined && (violation.law === 3 || violation.law === 4 || violation.law === 5);
  const isAbout = (entry: { run?: string | undefined; thread?: string | undefined }) =>
    (run !== undefined && entry.run === run) || (!isOfRun && thread !== undefined && entry.thread === thread);
  const lines: Line[] = [];
  for (const op of world.operations) {
    if (!isAbout(op)) continue;
    const what = [op.name, op.mode, op.strategy, op.action, op.token, op.answer, op.run, `at ${op.server ?? "?"}`];
    lines.push({ t: op.invoked, text: what.filter(Boolean).join(" ") });
    const end = [op.name, op.outcome, op.closed, op.frames && `${op.frames.length} frames`, op.error];
    if (op.ended !== undefined) lines.push({ t: op.ended, text: `  ${end.filter(Boolean).join(" ")}` });
  }
  for (const line of world.ledger) {
    if (!isAbout(line)) continue;
    const { phase, token, step, question, answer, attempt, pid } = line;
    const what = [phase, token, step, question, answer].filter((part) => part !== undefined).join(" ");
    lines.push({ t: line.t, text: `graph: ${what} (run ${line.run}, attempt ${attempt}, pid ${pid})` });
  }
  for (const row of world.runs) {
    if (!isAbout(row)) continue;
    lines.push({ t: row.created, text: `table: run ${row.run} created, seq ${row.seq}` });
    if (row.ended !== null)
      lines.push({ t: row.ended, text: `table: run ${row.run} ${row.status}, attempt ${row.attempt}` });
  }
  for (const hook of world.hooks) if (hook.run === run) lines.push({ t: hook.t, text: `webhook: ${hook.status}` });
  if (lines.length === 0 && t !== undefined) lines.push({ t, text: `here: ${server ?? ""}` });
  return describeLines(world, lines);
}

function describeLines(world: World, lines: Line[]): string[] {
  const begin = Math.min(...lines.map(({ t }) => t)) - BEFORE_MS;
  const end = Math.max(...lines.map(({ t }) => t));
  for (const fault of world.faults) {
    const isOver = fault.end !== undefined && fault.end < begin;
    if (isOver || fault.begin > end) continue;
    const length = fault.end === undefined ? "" : ` for ${((fault.end - fault.begin) / 1000).toFixed(1)} s`;
    const pids = fault.pids ? ` pids ${fault.pids.join(" ")}` : "";
    lines.push({ t: fault.begin, text: `FAULT ${fault.kind} ${fault.target} ${fault.detail ?? ""}${length}${pids}` });
  }
  const sorted = lines.toSorted((a, b) => a.t - b.t);
  const shown =
    sorted.length > MOST_LINES ? [...sorted.slice(0, 25), { t: NaN, text: "…" }, ...sorted.slice(-34)] : sorted;
  return shown.map(
    ({ t, text }) => `${Number.isNaN(t) ? "" : `${((t - begin) / 1000).toFixed(3)} s`.padStart(12)}  ${text}`,
  );
}
