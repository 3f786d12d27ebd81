/**
 * Masks JSON text: strings are replaced where they stand, so that everything else (numbers, order, spaces) stays as it
 * was written.
 */
import { skipString, skipValue } from "../json-scan.ts";
import { type Detector, detectorByName, DETECTORS, replaceFound } from "./detectors.ts";

/** A rule as `mask-json` applies it to a field of a run. */
export interface Masking {
  /** Of the field; `*` is any name or index. What is below is included. Empty: all of it. */
  path: readonly string[];
  /** What is masked within the texts; without any and without `pattern`, the whole value is. */
  detectors: readonly Detector[];
  /** Replaces what a pattern of the rule finds. */
  replacePattern?: ((text: string, replace: (found: string) => string) => string) | undefined;
  /** The whole field: it keeps its type when it is masked. */
  isField?: boolean | undefined;
  /** Text instead of what was found; by default the detector's name in brackets. */
  replacement?: string | undefined;
}

/** Text instead of what is masked as a whole, or by a pattern. */
export const MASKED = "[masked]";

export interface Masked {
  text: string;
  /** Replacements by masking, in their order. */
  counts: number[];
}

/** Masks valid JSON text. */
export function maskJson(text: string, maskings: readonly Masking[]): Masked {
  const counts = maskings.map(() => 0);
  const pieces: string[] = [];
  let copied = 0;
  const path: string[] = [];
  /** Of each level of the path: the name of an object's field that is nearest above. */
  const names: string[] = [];
  /** Of each open object or list: the position of the next element of a list, -1 of an object. */
  const open: number[] = [];
  let at = 0;
  const put = (start: number, end: number, instead: string) => {
    pieces.push(text.slice(copied, start), instead);
    copied = end;
  };
  /** Masks the value at `at` as a whole. @returns whether it did */
  const replaceWhole = (): boolean => {
    const n = maskings.findIndex((masking) => isWhole(masking) && isAt(masking.path, path));
    if (n < 0) return false;
    const end = skipValue(text, at);
    // a field keeps its type
    const empty = maskings[n]!.isField ? { "{": "{}", "[": "[]" }[text[at]!] : undefined;
    put(at, end, empty ?? JSON.stringify(maskings[n]!.replacement ?? MASKED));
    counts[n]!++;
    at = end;
    return true;
  };
  while (at < text.length) {
    const char = text[at]!;
    if (char === "{" || char === "[") {
      if (replaceWhole()) continue;
      open.push(char === "[" ? 0 : -1);
      path.push(char === "[" ? "0" : "");
      names.push(names.at(-1) ?? "");
      at++;
    } else if (char === "}" || char === "]") {
      open.pop();
      path.pop();
      names.pop();
      at++;
    } else if (char === ",") {
      const last = open.length - 1;
      if (open[last]! >= 0) path[last] = String(++open[last]!);
      at++;
    } else if (char === '"') {
      const end = skipString(text, at);
      let next = end;
      while (next < text.length && text.charCodeAt(next) <= 32) next++;
      if (open.at(-1) === -1 && text[next] === ":") {
        const name = JSON.parse(text.slice(at, end)) as string;
        // it stands in the object, whose path is shorter
        path.pop();
        const masked = maskText(name, maskings, counts, path);
        if (masked !== name) put(at, end, JSON.stringify(masked));
        path.push(name);
        names[names.length - 1] = name;
        at = next + 1;
      } else if (!replaceWhole()) {
        const value = JSON.parse(text.slice(at, end)) as string;
        const masked = maskText(value, maskings, counts, path, names.at(-1));
        if (masked !== value) put(at, end, JSON.stringify(masked));
        at = end;
      }
    } else if (char === ":" || text.charCodeAt(at) <= 32) at++;
    else if (!replaceWhole()) at = skipValue(text, at);
  }
  return { text: pieces.length === 0 ? text : pieces.join("") + text.slice(copied), counts };
}

/** Masks within a text at a path of its field, or in the name of one. `name`: of the field. Adds to `counts`. */
export function maskText(
  text: string,
  maskings: readonly Masking[],
  counts: number[],
  path: readonly string[] = [],
  name = "",
): string {
  let result = text;
  for (const [n, { detectors, replacePattern, replacement, path: wanted }] of maskings.entries()) {
    if (!isBelow(wanted, path)) continue;
    const by = (instead: string) => () => {
      counts[n]!++;
      return replacement ?? instead;
    };
    const named = detectorByName(name, result);
    if (named && detectors.includes(named)) {
      result = by(`[${named}]`)();
      continue;
    }
    for (const detector of DETECTORS) {
      if (!detectors.includes(detector)) continue;
      result = replaceFound(detector, result, by(`[${detector}]`));
    }
    if (replacePattern) result = replacePattern(result, by(MASKED));
  }
  return result;
}

const isWhole = ({ detectors, replacePattern }: Masking): boolean => detectors.length === 0 && !replacePattern;

const isBelow = (wanted: readonly string[], path: readonly string[]): boolean =>
  wanted.length <= path.length && wanted.every((name, i) => name === "*" || name === path[i]);

const isAt = (wanted: readonly string[], path: readonly string[]): boolean =>
  wanted.length === path.length && isBelow(wanted, path);
