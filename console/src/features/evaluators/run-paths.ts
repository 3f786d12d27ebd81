import type { Subject } from "./draft.ts";

/** Roots of paths, with what they read. */
const ROOTS: [path: string, only?: Subject][] = [
  ["question"],
  ["answer"],
  ["input"],
  ["output"],
  ["reference"],
  ["conversation"],
  ["context"],
  ["tool_calls"],
  ["trace"],
  ["thread", "thread"],
  ["other.answer", "pair"],
  ["other.output", "pair"],
  ["error"],
  ["metadata"],
  ["latency_seconds"],
  ["total_cost"],
];

const MAX_PATHS = 200;
const MAX_DEPTH = 5;

/** Suggests paths: the roots of this kind of subject, and those of the fields of a run. */
export function suggestPaths(
  subject: Subject,
  run: { inputs?: unknown; outputs?: unknown; extra?: { metadata?: unknown } } | null | undefined,
): string[] {
  const paths = ROOTS.filter(([, only]) => only === undefined || only === subject).map(([path]) => path);
  collect(run?.inputs, "input", paths, 0);
  collect(run?.outputs, "output", paths, 0);
  collect(run?.extra?.metadata, "metadata", paths, 0);
  return [...new Set(paths)];
}

function collect(value: unknown, path: string, paths: string[], depth: number): void {
  if (paths.length >= MAX_PATHS || depth > MAX_DEPTH || value === null || typeof value !== "object") return;
  if (Array.isArray(value)) {
    if (value.length === 0) return;
    paths.push(`${path}[-1]`);
    collect(value.at(-1), `${path}[-1]`, paths, depth + 1);
    return;
  }
  for (const [name, inner] of Object.entries(value)) {
    const step = /^[^.[\]"]+$/.test(name) ? `.${name}` : `["${name}"]`;
    paths.push(path + step);
    collect(inner, path + step, paths, depth + 1);
  }
}
