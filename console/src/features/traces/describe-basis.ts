import type { AnyRun } from "../runs/run-record.ts";

const EVIDENCE = {
  numbers: "found from the numbers",
  format: "by the provider's format",
  provider: "as the provider counts",
  standard: "as usage_metadata is defined",
};

/** Describes how the tokens of a call were counted and what its cost does not contain, in short sentences. */
export function describeBasis(basis: AnyRun["cost_basis"]): string[] {
  if (!basis) return [];
  const { cached_tokens: cached, cached_tokens_by: cachedBy = "standard", notes = [] } = basis;
  const { reasoning_tokens: reasoning, reasoning_tokens_by: reasoningBy = "standard", cost } = basis;
  const place = (counting: string, side: string) =>
    counting === "beside" ? `beside the ${side}` : `within the ${side}`;
  return [
    ...notes,
    ...(cached ? [`cached tokens counted ${place(cached, "input")}, ${EVIDENCE[cachedBy]}`] : []),
    ...(reasoning ? [`reasoning counted ${place(reasoning, "output")}, ${EVIDENCE[reasoningBy]}`] : []),
    ...(cost === "client" ? ["cost reported by the client"] : []),
  ];
}
