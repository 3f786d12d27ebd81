import type { Verdict, World } from "./check/world.ts";
import { describeStory } from "./story.ts";

const MOST_STORIES = 8;

const count = (names: string[]): [string, number][] => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1));
};

const table = (rows: [string, number | string][]): string[] =>
  rows.map(([name, value]) => `  ${name.padEnd(34)} ${value}`);

/** Formats the counts of a run and, for each law, what was checked and its violations. */
export function report(world: World, verdicts: Record<string, Verdict>, skipped: Record<string, number>): string {
  const lines = [`Faults: ${world.faults.length}`, ...table(count(world.faults.map(({ kind }) => kind)))];
  if (Object.keys(skipped).length > 0) lines.push("Not to be had:", ...table(Object.entries(skipped)));
  lines.push(`Operations: ${world.operations.length}`);
  lines.push(...table(count(world.operations.map(({ name, outcome }) => `${name} ${outcome}`))));
  lines.push(`Runs: ${world.runs.length}`, ...table(count(world.runs.map(({ status }) => status))));
  const calm = world.calms.reduce((sum, { from, to }) => sum + to - from, 0);
  lines.push(`Calm windows: ${world.calms.length}, ${(calm / 1000).toFixed(0)} s`);
  for (const [law, { violations, checked }] of Object.entries(verdicts)) {
    const statistics = Object.entries(checked).map(([name, value]) => `${name} ${value}`);
    lines.push(`Law ${law}: ${violations.length} violations (${statistics.join(", ")})`);
  }
  return lines.join("\n");
}

/** Lists the violations of each law, the shortest stories first. */
export function reportViolations(world: World, verdicts: Record<string, Verdict>): string {
  const lines: string[] = [];
  for (const [law, { violations }] of Object.entries(verdicts)) {
    const stories = violations
      .map((violation) => ({ violation, story: describeStory(world, violation) }))
      .toSorted((a, b) => a.story.length - b.story.length);
    for (const { violation, story } of stories.slice(0, MOST_STORIES))
      lines.push("", `VIOLATION of law ${law}: ${violation.text}`, ...story);
    for (const { violation } of stories.slice(MOST_STORIES)) lines.push(`VIOLATION of law ${law}: ${violation.text}`);
  }
  return lines.join("\n");
}
