import type { Cause, Change } from "./change-schema.ts";

/** Plain words of changes and causes. */

const NAMES = {
  error_rate: "Error rate",
  latency: "Mean latency",
  cost: "Mean cost per trace",
  feedback: "Mean score",
};

export function describeChange(change: Omit<Change, "text" | "causes">): string {
  const { measure, feedback_key: key, before, now, verdict } = change;
  const name = key === null ? NAMES[measure] : `${NAMES[measure]} of ${key}`;
  const traces = `${count(now.n)} traces`;
  if (now.value === null) return `${name}: no traces in this period.`;
  if (before.value === null)
    return `${name} is ${print(measure, now.value)} over ${traces}; the period before has none.`;
  if (verdict === "same") {
    return `${name} is ${print(measure, now.value)}, as before (${print(measure, before.value)}).`;
  }
  const verb = now.value > before.value ? "rose" : "fell";
  return `${name} ${verb} from ${print(measure, before.value)} to ${print(measure, now.value)} (${difference(measure, before.value, now.value)}) over ${traces}.`;
}

export function describeCause(cause: Omit<Cause, "text">, measure: Change["measure"]): string {
  const { before, now, share } = cause;
  const part =
    share === null
      ? "Worse in traces with"
      : share > 0.995
        ? "All of the change is in traces with"
        : `${Math.round(share * 100)} % of the change is in traces with`;
  const also =
    cause.same_traces.length > 0 ? ` (the same traces: ${cause.same_traces.slice(0, 3).map(named).join(", ")})` : "";
  const from = before.value === null ? "new in this period" : `${print(measure, before.value)} before`;
  return `${part} ${named(cause)}${also}: ${print(measure, now.value!)} in ${count(now.n)} traces, ${from}.`;
}

const LABELS: Record<string, string> = { prompt_commit: "prompt commit" };

const named = ({ dimension, key, value }: { dimension: string; key: string | null; value: string }): string =>
  `${key ?? LABELS[dimension] ?? dimension} ${dimension === "prompt_commit" ? value.slice(0, 8) : value}`;

function print(measure: Change["measure"], value: number): string {
  if (measure === "error_rate") return `${digits(value * 100)} %`;
  if (measure === "latency") return value < 1 ? `${digits(value * 1000)} ms` : `${digits(value)} s`;
  if (measure === "cost") return `$${value < 0.01 ? value.toPrecision(2) : value.toFixed(value < 1 ? 3 : 2)}`;
  return digits(value);
}

function difference(measure: Change["measure"], before: number, now: number): string {
  const sign = now > before ? "+" : "−";
  if (measure === "error_rate") return `${sign}${digits(Math.abs(now - before) * 100)} points`;
  if (measure === "feedback" || before === 0) return `${sign}${digits(Math.abs(now - before))}`;
  return `${sign}${Math.round((Math.abs(now - before) / before) * 100)} %`;
}

const digits = (value: number): string =>
  Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(2)));
const count = (n: number): string => n.toLocaleString("en");
