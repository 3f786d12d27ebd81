/**
 * Similarity of examples: the share of common shingles (Jaccard index) of their normalised texts. MinHash with banding
 * finds the pairs to be compared, so that not all pairs are. All of it is deterministic.
 */

/** Characters of a shingle. */
const SHINGLE = 4;
/** Characters of an example's text that count. */
const MAX_TEXT = 4000;
const HASHES = 128;
const EMPTY = 0xffffffff;
/** Of 32 bands of 4 hashes: a pair of similarity 0.3 is compared with a probability of 0.23, one of 0.6 of 0.99. */
const ROWS = 4;

/** Nesting levels that are read. */
const MAX_LEVELS = 100;

/** Returns the texts and numbers of a value, in the order of their names, without names, punctuation and case. */
export function normalisedText(value: unknown): string {
  const parts: string[] = [];
  let length = 0;
  const add = (each: unknown, level: number): void => {
    if (length > MAX_TEXT || level > MAX_LEVELS || each === null) return;
    if (Array.isArray(each)) for (const item of each) add(item, level + 1);
    else if (typeof each === "object") {
      const fields = each as Record<string, unknown>;
      for (const name of Object.keys(fields).toSorted()) add(fields[name], level + 1);
    } else {
      const text = String(each as string | number | boolean).slice(0, MAX_TEXT);
      parts.push(text);
      length += text.length + 1;
    }
  };
  add(value, 0);
  return parts
    .join(" ")
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
    .slice(0, MAX_TEXT);
}

/** Returns the distinct hashes of a text's shingles, ascending. A shorter text is one shingle. */
export function shingles(text: string): Uint32Array {
  const count = Math.max(1, text.length - SHINGLE + 1);
  const hashes = new Uint32Array(count);
  for (let at = 0; at < count; at++) {
    // FNV-1a with a final mix
    let hash = 0x811c9dc5;
    for (let i = at; i < Math.min(at + SHINGLE, text.length); i++)
      hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hashes[at] = (hash ^ (hash >>> 13)) >>> 0;
  }
  hashes.sort();
  let distinct = 0;
  for (let i = 0; i < count; i++) if (i === 0 || hashes[i] !== hashes[i - 1]) hashes[distinct++] = hashes[i]!;
  return hashes.slice(0, distinct);
}

/** Share of common elements of two ascending sets, from 0 to 1; 0 for one below the threshold. */
export function jaccard(a: Uint32Array, b: Uint32Array, threshold: number): number {
  // elements that only one has; with more than this the share is below the threshold
  const most = (a.length + b.length) * ((1 - threshold) / (1 + threshold)) + 1e-9;
  if (Math.abs(a.length - b.length) > most) return 0;
  let common = 0;
  let apart = 0;
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const left = a[i]!;
    const right = b[j]!;
    if (left === right) {
      common++;
      i++;
      j++;
    } else {
      if (++apart > most) return 0;
      if (left < right) i++;
      else j++;
    }
  }
  const share = common / (a.length + b.length - common);
  return share < threshold ? 0 : share;
}

/**
 * Returns the keys of a set's bands: sets that share a key are probably similar. The hashes are those of one
 * permutation (Li, Owen and Zhang 2012): the least element of each of 128 bins, where an empty bin takes that of the
 * next one. That is a hundredth of the work of 128 permutations.
 */
export function bandKeys(set: Uint32Array): number[] {
  const least = new Uint32Array(HASHES).fill(EMPTY);
  for (let i = 0; i < set.length; i++) {
    const element = set[i]!;
    const mixed = Math.imul(element ^ (element >>> 15), 0x2c1b3c6d) >>> 0;
    const bin = mixed >>> 25;
    if (mixed < least[bin]!) least[bin] = mixed;
  }
  // an element is in its own bin, so that a borrowed one differs from all that belong there
  let next = EMPTY;
  for (let i = 2 * HASHES - 1; i >= 0; i--) {
    const bin = i % HASHES;
    if (least[bin] === EMPTY) {
      if (i < HASHES || next !== EMPTY) least[bin] = next;
    } else next = least[bin]!;
  }
  const keys: number[] = [];
  for (let band = 0; band + ROWS <= HASHES; band += ROWS) {
    let low = band + 1;
    let high = 0;
    for (let row = 0; row < ROWS; row++) {
      low = Math.imul(low ^ least[band + row]!, 0x85ebca6b);
      high = Math.imul(high + least[band + row]!, 0xc2b2ae35) ^ (low >>> 13);
    }
    // 53 bits, so that keys hardly ever collide
    keys.push((high & 0x1fffff) * 0x100000000 + (low >>> 0));
  }
  return keys;
}
