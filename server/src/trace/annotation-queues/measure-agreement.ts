import { groupBy } from "../../base/group-by.ts";

export interface Judgement {
  key: string;
  run_id: string;
  judge: string;
  category: string;
}

export interface KeyAgreement {
  feedback_key: string;
  /** Items judged by several reviewers. */
  items: number;
  reviewers: number;
  /** Mean share of agreeing pairs of reviewers per item, from 0 to 1. */
  percent_agreement: number;
  /** Agreement beyond chance, at most 1; null when chance alone explains it all, since everyone always gave one answer. */
  kappa: number | null;
  /** `cohen` with two reviewers, `fleiss` with more. */
  method: "cohen" | "fleiss";
}

/**
 * Measures how far reviewers agree on each key, over the items that at least two of them judged. Each judgement counts
 * as a category. Cohen's kappa (1960) takes chance from each reviewer's own distribution, Fleiss' (1971) from the common
 * one, here with a varying number of judgements per item.
 *
 * @param judgements at most one per key, item and judge
 */
export function measureAgreement(judgements: readonly Judgement[]): KeyAgreement[] {
  const byKey = groupBy(judgements, (judgement) => judgement.key);
  return [...byKey].map(([key, ofKey]) => ({ feedback_key: key, ...agreementOn(ofKey) }));
}

function agreementOn(judgements: Judgement[]): Omit<KeyAgreement, "feedback_key"> {
  const items = [...groupBy(judgements, (judgement) => judgement.run_id).values()];
  const judges = [...new Set(judgements.map((judgement) => judgement.judge))];
  const observed = mean(items.map(agreeingPairs));
  const method = judges.length === 2 ? "cohen" : "fleiss";
  const distributions =
    method === "cohen"
      ? judges.map((judge) => shares(judgements.filter((judgement) => judgement.judge === judge)))
      : [shares(judgements), shares(judgements)];
  const [first, second] = distributions as [Map<string, number>, Map<string, number>];
  const chance = [...first].reduce((sum, [category, share]) => sum + share * (second.get(category) ?? 0), 0);
  return {
    items: items.length,
    reviewers: judges.length,
    percent_agreement: observed,
    kappa: chance >= 1 ? null : (observed - chance) / (1 - chance),
    method,
  };
}

/** Returns the share of pairs of judgements of an item that name the same category. */
function agreeingPairs(judgements: Judgement[]): number {
  const n = judgements.length;
  const sizes = [...groupBy(judgements, (judgement) => judgement.category).values()].map((same) => same.length);
  return sizes.reduce((sum, size) => sum + size * (size - 1), 0) / (n * (n - 1));
}

function shares(judgements: Judgement[]): Map<string, number> {
  const groups = groupBy(judgements, (judgement) => judgement.category);
  return new Map([...groups].map(([category, same]) => [category, same.length / judgements.length]));
}

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
