import { bind, ch, type Fragment, raw } from "../../base/clickhouse/fragment.ts";
import { compileFilter, type FilterScope, SEARCHED } from "./compile.ts";
import { searchSpellings } from "./search-spellings.ts";

/** Expression of the index `words` of `runs`, which a condition must repeat (migration 0031). */
const WORDS = `lowerUTF8(concat(${SEARCHED.map((column) => `ifNull(${column}, '')`).join(", '|', ")}))`;

/** Characters that the index knows the sequences of. */
const SEQUENCE = 4;

/**
 * Compiles the condition that the text occurs in a piece of a run, `runs as r`, unmerged, ignoring case. Pieces that the
 * index rules out are not read. In others its expression is evaluated where the text was found, so that it costs nothing
 * where the index does not help.
 *
 * Texts of ASCII occur in lower case where they occur ignoring case; others are searched without the index.
 */
export function searchPieces(text: string, scope: FilterScope): Fragment {
  const exact = compileFilter({ kind: "search", text }, scope);
  const spellings = searchSpellings(text);
  const isIndexed = spellings.every((spelling) => /^[\x20-\x7e]*$/.test(spelling) && spelling.length >= SEQUENCE);
  if (!isIndexed) return exact;
  const lower = spellings.map((spelling) => spelling.toLowerCase());
  return ch`(${exact}) and multiSearchAny(${raw(WORDS)}, ${bind("Array(String)", lower)})`;
}
