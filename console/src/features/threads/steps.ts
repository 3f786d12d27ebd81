import type { State } from "./queries.ts";

export interface StepText {
  number: number;
  title: string;
  /** Updates by node; null for a state that no node wrote. */
  updates: Record<string, unknown> | null;
  next: string[];
}

/** Describes the origin of a state: the tasks of the state before it, the input, or a manual update. */
export function describeStep({ metadata, next, values }: State, parent: State | undefined): StepText {
  const { source, step } = (metadata ?? {}) as { source?: string; step?: number };
  const number = step ?? 0;
  if (source === "input") return { number, title: "input", updates: null, next: [] };
  if (source === "update") return { number, title: "edited manually", updates: null, next };
  if (source === "fork") return { number, title: "fork", updates: null, next };
  const tasks = (parent?.tasks ?? []) as { name: string; result?: unknown }[];
  const wrote = tasks.filter(({ result }) => result !== null && result !== undefined);
  const names = [...new Set((wrote.length > 0 ? wrote : tasks).map(({ name }) => name))];
  const title = names.length === 0 ? "step" : names.map((name) => (name === "__start__" ? "start" : name)).join(", ");
  const updates = Object.fromEntries(wrote.map(({ name, result }) => [name, result]));
  const isStart = names.length === 1 && names[0] === "__start__";
  return { number, title, updates: isStart || wrote.length === 0 || values == null ? null : updates, next };
}
