/** System users of confined programs, from a range of ids that contains no account of the machine. */
import { readFileSync } from "node:fs";

/** First and last id of a range. */
export type IdRange = readonly [first: number, last: number];

/** Ids that systemd's list of ranges leaves unassigned (systemd.io/UIDS-GIDS). */
const UNUSED: IdRange = [1_879_048_192, 2_147_352_575];
/** Range for containers with only 65,536 ids. */
const SMALL: IdRange = [20_000, 59_999];

type ReadFile = (file: string) => string;
const readText: ReadFile = (file) => readFileSync(file, "utf8");

/**
 * Reads the id range of confined programs' users: the ids that this process's user namespace maps, for users and for
 * groups. Null where there is none.
 */
export function readIdRange(read: ReadFile = readText): IdRange | null {
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

/** Reads the ids of users with an account, which are never confined, even inside the range. */
export function readAccountIds(read: ReadFile = readText): ReadonlySet<number> {
  try {
    const lines = read("/etc/passwd").split("\n");
    return new Set(lines.flatMap((line) => (line.includes(":") ? [Number(line.split(":")[2])] : [])));
  } catch {
    return new Set();
  }
}
