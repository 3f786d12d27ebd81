import { readFileSync } from "node:fs";

/** First and last id of a range. */
export type IdRange = readonly [first: number, last: number];

/** Ids that systemd's allocation leaves unused (systemd.io/UIDS-GIDS). */
const UNUSED: IdRange = [1_879_048_192, 2_147_352_575];
/** Range for containers that map no more than 65,536 ids. */
const SMALL: IdRange = [20_000, 59_999];

/**
 * Determines the id range of deployments' system users: ids that this process's user namespace maps, for users and for
 * groups. Null when there is none.
 */
export function readIdRange(read: (file: string) => string = (file) => readFileSync(file, "utf8")): IdRange | null {
  try {
    const maps = ["/proc/self/uid_map", "/proc/self/gid_map"].map((file) => parseMap(read(file)));
    const isMapped = ([first, last]: IdRange) =>
      maps.every((map) => map.some(([low, high]) => low <= first && last <= high));
    return [UNUSED, SMALL].find((range) => isMapped(range)) ?? null;
  } catch {
    return null;
  }
}

const parseMap = (text: string): IdRange[] =>
  text
    .trim()
    .split("\n")
    .map((line): IdRange => {
      const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
      return [first, first + count - 1];
    });
