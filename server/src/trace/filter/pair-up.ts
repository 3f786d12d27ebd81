import type { Expression, Test } from "./expression.ts";
import type { Family, PartName } from "./fields.ts";

/** Condition on one part of a pair, such as `eq(metadata_key, "k")`. */
export interface PairCondition {
  family: Family;
  part: PartName;
  test: Test;
}

/**
 * Combines the conditions on parts of pairs within one `and` (contract §3.2):
 *
 * | conditions | meaning |
 * |---|---|
 * | `neq(key, k)` | no pair has the key |
 * | `eq(key, k)`, `neq(value, v)` | a pair has the key and another value |
 * | `neq(key, k)`, `neq(value, v)` | no pair has the key, and no pair has the value |
 * | `neq(key, k)`, `eq(value, v)` | no pair has the key, but some pair has the value |
 *
 * So an excluded key is a separate condition, and all other conditions refer to one pair. An excluded value refers to
 * that pair only if a key names it. A second key begins a second pair; read strictly, a single pair would need two
 * keys, which no run passes.
 */
export function pairUp(conditions: PairCondition[]): Expression[] {
  const families = [...new Set(conditions.map((condition) => condition.family))];
  return families.flatMap((family) =>
    ofOneFamily(
      family,
      conditions.filter((condition) => condition.family === family),
    ),
  );
}

function ofOneFamily(family: Family, conditions: PairCondition[]): Expression[] {
  const found: Expression[] = [];
  const some = (tests: PairCondition[]): Expression => ({
    kind: "some_pair",
    family,
    tests: tests.map(({ part, test }) => ({ part, test })),
  });
  const none = ({ part, test }: PairCondition): Expression => ({
    kind: "not",
    item: some([{ family, part, test: opposite(test) }]),
  });

  const groups: PairCondition[][] = [[]];
  for (const condition of conditions) {
    if (condition.part === "key") {
      if (excludes(condition)) {
        found.push(none(condition));
        continue;
      }
      if (groups.at(-1)!.some((condition) => condition.part === "key")) groups.push([]);
    }
    groups.at(-1)!.push(condition);
  }
  for (const group of groups) {
    const named = group.some((condition) => condition.part === "key");
    const ofThePair = named ? group : group.filter((condition) => !excludes(condition));
    if (ofThePair.length > 0) found.push(some(ofThePair));
    if (!named) found.push(...group.filter(excludes).map(none));
  }
  return found;
}

const excludes = ({ test }: PairCondition): boolean => test.op === "neq";

const opposite = (test: Test): Test => (test.op === "neq" ? { op: "eq", value: test.value } : test);
