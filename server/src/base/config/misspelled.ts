/** Variables that are set for nothing, because no setting has their name. */

/** Variable that is probably meant as a setting, and the setting. */
export interface Misspelled {
  name: string;
  meant: string;
}

const PREFIX = "HEDDLE_";
/** What Kubernetes sets in pods for a Service whose name begins with heddle. */
const SERVICE_LINK = /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/;
/** Names of this length may differ in two letters; in shorter ones, that makes another word. */
const LONG = 8;

/**
 * Finds variables that differ from a setting's name by a letter or two, the order of its words, or their case. Others
 * that begin with HEDDLE_ are `unknown`: a project's own code may read them.
 */
export function findMisspelled(
  names: readonly string[],
  known: ReadonlySet<string>,
): { misspelled: Misspelled[]; unknown: string[] } {
  const ours = [...known].filter((name) => name.startsWith(PREFIX));
  const misspelled: Misspelled[] = [];
  const unknown: string[] = [];
  for (const name of names) {
    if (known.has(name) || SERVICE_LINK.test(name) || !/^h/i.test(name)) continue;
    const meant = closest(name, ours);
    if (meant !== undefined) misspelled.push({ name, meant });
    else if (name.startsWith(PREFIX)) unknown.push(name);
  }
  return { misspelled, unknown };
}

function closest(name: string, known: readonly string[]): string | undefined {
  const upper = name.toUpperCase().replaceAll("-", "_");
  const words = wordsOf(upper);
  const same = known.find((candidate) => candidate === upper || wordsOf(candidate) === words);
  if (same !== undefined) return same;
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const candidate of known) {
    const most = candidate.length - PREFIX.length < LONG ? 1 : 2;
    if (Math.abs(candidate.length - upper.length) > most) continue;
    const distance = editDistance(upper, candidate);
    if (distance <= most && distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

const wordsOf = (name: string): string => name.split("_").toSorted().join("_");

/** Number of letters to insert, delete, replace or swap with their neighbour (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let older: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1));
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwapped) row[j] = Math.min(row[j]!, older[j - 2]! + 1);
    }
    [older, last] = [last, row];
  }
  return last[b.length]!;
}
