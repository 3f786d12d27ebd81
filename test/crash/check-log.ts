import { readFile } from "node:fs/promises";

/** One line of the step log, see project/logged.ts. */
export interface LogLine {
  run: string;
  step: number;
  phase: "start" | "end";
  /** One call of a node, in one process. */
  execution: string;
  pid: number;
  at: number;
}

export async function readLog(file: string): Promise<LogLine[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as LogLine);
}

/**
 * Returns the violations in the step log. In each run (its steps are sequential):
 * - executions do not overlap: once a newer one has started, an older one writes no more lines;
 * - no step starts again after a later step of the run has started: the later one started only because the earlier
 *   one's checkpoint was written, so the earlier one had completed.
 */
export function violations(lines: LogLine[]): string[] {
  const found: string[] = [];
  const runs = new Map<string, { current: string; highest: number; ended: Set<string> }>();
  for (const { run, step, phase, execution } of lines) {
    const progress = runs.get(run) ?? { current: "", highest: 0, ended: new Set<string>() };
    runs.set(run, progress);
    if (phase === "start") {
      if (step < progress.highest)
        found.push(`run ${run}: step ${step} ran again (${execution}) after step ${progress.highest} had started`);
      progress.highest = Math.max(progress.highest, step);
      progress.current = execution;
    } else {
      if (execution !== progress.current) {
        found.push(`run ${run}: ${execution} was still at step ${step} when ${progress.current} had started`);
      }
      if (progress.ended.has(execution)) found.push(`run ${run}: ${execution} ended twice`);
      progress.ended.add(execution);
    }
  }
  return found;
}

/** Returns the steps of a run that have an end in the log. */
export function completedSteps(lines: LogLine[], run: string): number[] {
  const steps = lines.filter((line) => line.run === run && line.phase === "end").map((line) => line.step);
  return [...new Set(steps)].toSorted((a, b) => a - b);
}
