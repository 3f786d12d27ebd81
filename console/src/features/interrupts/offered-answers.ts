/** Answers that an interrupt's payload lists in `answers`, `choices` or `options`, as graphs commonly do. */
export interface OfferedAnswer {
  label: string;
  value: unknown;
  /** Whether it has parts to fill in, written as an ellipsis. */
  isDraft: boolean;
}

const MOST = 12;
const ELLIPSIS = /^(?:…|\.\.\.)$/;

/** Returns the answers in their order; none when the payload lists none, or too many for buttons. */
export function offeredAnswers(payload: unknown): OfferedAnswer[] {
  if (typeof payload !== "object" || payload === null) return [];
  const { answers, choices, options } = payload as Record<string, unknown>;
  const list = [answers, choices, options].find((value) => Array.isArray(value) && value.length > 0) as unknown[];
  if (list === undefined || list.length > MOST || list.some((answer) => answer == null)) return [];
  return list.map((answer) => {
    if (typeof answer !== "object")
      return { label: typeof answer === "string" ? answer : JSON.stringify(answer), value: answer, isDraft: false };
    const fields = answer as Record<string, unknown>;
    const name = [fields["label"], fields["action"], fields["type"], fields["name"], fields["id"]].find(
      (field) => typeof field === "string",
    );
    const value = "label" in fields && "value" in fields ? fields["value"] : answer;
    return { label: (name as string | undefined) ?? JSON.stringify(answer), value, isDraft: hasGaps(value) };
  });
}

/** Keys of payloads that await a yes or no in the same key of the answer: `{question, approved: null}`. */
const DECISIONS = ["approved", "approve", "accepted", "accept", "confirmed", "confirm", "allowed", "allow", "ok"];

/**
 * Yes and no for a payload that says nothing about its answers. Graphs read either a plain boolean or an object with
 * `approved`, so that both are offered, with the value in the label.
 */
export function usualAnswers(payload: unknown): OfferedAnswer[] {
  const fields = (typeof payload === "object" && payload !== null ? payload : {}) as Record<string, unknown>;
  const key = DECISIONS.find((name) => name in fields && [null, true, false].includes(fields[name] as null));
  const values = key === undefined ? [(yes: boolean) => yes] : [];
  const decide = (yes: boolean) => ({ [key ?? "approved"]: yes });
  return [...values, decide].flatMap((answer) =>
    [true, false].map((yes) => ({
      label: `${yes ? "Approve" : "Reject"} (${JSON.stringify(answer(yes))})`,
      value: answer(yes),
      isDraft: false,
    })),
  );
}

const hasGaps = (value: unknown): boolean =>
  typeof value === "string"
    ? ELLIPSIS.test(value)
    : typeof value === "object" && value !== null && Object.values(value).some(hasGaps);

/** Attribute of the buttons that answer at once, in the order of their keys. */
export const OFFERED = "data-offered-answer";
