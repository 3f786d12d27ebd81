import { setImmediate as nextTurn } from "node:timers/promises";

import { bandKeys, jaccard, normalisedText, shingles } from "./shingles.ts";

export interface Texted {
  example_id: string;
  inputs: unknown;
}

export interface NearGroup {
  /** In the order of the examples. `similarity` is the greatest of the pairs that link it, from 0 to 1. */
  members: { example_id: string; similarity: number }[];
}

/** Examples of a band's bucket that a further one is compared with, which bounds the work on hostile data. */
const MAX_COMPARED = 8;
/** Milliseconds after which other requests get their turn. */
const TURN_MS = 15;

/**
 * Groups examples whose inputs are similar: two are in a group when a chain of pairs connects them whose similarity is
 * at least the threshold. The largest groups come first, those of equal size in the order of their first examples.
 */
export async function groupNearDuplicates(examples: readonly Texted[], threshold: number): Promise<NearGroup[]> {
  const parents = Int32Array.from(examples, (_, i) => i);
  const find = (i: number): number => {
    while (parents[i] !== i) {
      parents[i] = parents[parents[i]!]!;
      i = parents[i]!;
    }
    return i;
  };
  const best = new Float64Array(examples.length);
  const link = (a: number, b: number, similarity: number) => {
    const [x, y] = [find(a), find(b)];
    parents[Math.max(x, y)] = Math.min(x, y);
    best[a] = Math.max(best[a]!, similarity);
    best[b] = Math.max(best[b]!, similarity);
  };
  const byText = new Map<string, number>();
  const buckets = new Map<number, number[]>();
  const sets: Uint32Array[] = [];
  /** Last example with which each was compared. */
  const compared = new Int32Array(examples.length).fill(-1);
  let since = performance.now();
  for (let i = 0; i < examples.length; i++) {
    if (performance.now() - since > TURN_MS) {
      await nextTurn();
      since = performance.now();
    }
    const text = normalisedText(examples[i]!.inputs);
    // nothing to compare: numbers, letters and words are what counts
    if (text === "") continue;
    const same = byText.get(text);
    if (same !== undefined) {
      link(same, i, 1);
      continue;
    }
    byText.set(text, i);
    const set = shingles(text);
    sets[i] = set;
    for (const key of bandKeys(set)) {
      const bucket = buckets.get(key);
      if (!bucket) {
        buckets.set(key, [i]);
        continue;
      }
      for (const other of bucket) {
        if (compared[other] === i || find(other) === find(i)) continue;
        compared[other] = i;
        const similarity = jaccard(sets[other]!, set, threshold);
        if (similarity > 0) link(other, i, similarity);
      }
      if (bucket.length < MAX_COMPARED) bucket.push(i);
    }
  }
  const groups = new Map<number, NearGroup>();
  for (let i = 0; i < examples.length; i++) {
    if (best[i] === 0) continue;
    const root = find(i);
    const group = groups.get(root) ?? { members: [] };
    groups.set(root, group);
    group.members.push({ example_id: examples[i]!.example_id, similarity: Math.round(best[i]! * 1000) / 1000 });
  }
  return [...groups.values()].toSorted((a, b) => b.members.length - a.members.length);
}

/** Finds the examples whose inputs are similar to those of a new one, the most similar first. */
export async function findSimilar(
  examples: readonly Texted[],
  inputs: unknown,
  threshold: number,
  limit: number,
): Promise<NearGroup["members"]> {
  const text = normalisedText(inputs);
  if (text === "") return [];
  const set = shingles(text);
  const found: NearGroup["members"] = [];
  let since = performance.now();
  for (const { example_id, inputs: others } of examples) {
    if (performance.now() - since > TURN_MS) {
      await nextTurn();
      since = performance.now();
    }
    const other = normalisedText(others);
    const similarity = other === "" ? 0 : jaccard(set, shingles(other), threshold);
    if (similarity > 0) found.push({ example_id, similarity: Math.round(similarity * 1000) / 1000 });
  }
  return found.toSorted((a, b) => b.similarity - a.similarity).slice(0, limit);
}
