import { bind, ch, type Fragment, raw } from "../../base/clickhouse/fragment.ts";
import { compileFilter, type FilterScope, SEARCHED } from "./compile.ts";
import type { Expression } from "./expression.ts";
import { searchSpellings } from "./search-spellings.ts";

/** Expression of the index `words` of `runs`, which a condition must repeat (migration 0031). */
const WORDS = `lowerUTF8(concat(${SEARCHED.map((column) => `ifNull(r.${column}, '')`).join(", '|', ")}))`;

/** Characters that the index knows the sequences of. */
const SEQUENCE = 4;

/** Returns the search of which runs that pass these filters have a result, preferably one that the index serves. */
export function findSearch(filters: readonly Expression[]): Expression | undefined {
  const searches = filters.flatMap(conjuncts).filter((expression) => searchedText(expression) !== undefined);
  return searches.find((search) => indexedSpellings(search)) ?? searches[0];
}

/**
 * Compiles a search to a condition over pieces of runs, `runs as r`, unmerged. Parts of the data that the index rules out
 * are not read. In other parts the index's own expression is computed only where the text was found: nothing is lost by
 * a text that the index cannot rule out, and frequent texts take up to twice the time.
 *
 * Where printable ASCII occurs ignoring case, it also occurs in the text in lower case (search-pieces.db.test.ts). Other
 * texts are searched without the index.
 */
export function searchPieces(search: Expression, scope: FilterScope): Fragment {
  const exact = compileFilter(search, scope);
  const spellings = indexedSpellings(search);
  if (!spellings) return exact;
  const lower = spellings.map((spelling) => spelling.toLowerCase());
  return ch`(${exact}) and multiSearchAny(${raw(WORDS)}, ${bind("Array(String)", lower)})`;
}

function indexedSpellings(search: Expression): string[] | undefined {
  // `extra` is not in the index
  if (search.kind === "field" && !SEARCHED.some((column) => column === search.field.name)) return undefined;
  const spellings = searchSpellings(searchedText(search) ?? "");
  const isIndexed = (spelling: string) => spelling.length >= SEQUENCE && /^[\x20-\x7e]*$/.test(spelling);
  return spellings.every(isIndexed) ? spellings : undefined;
}

function searchedText(expression: Expression): string | undefined {
  if (expression.kind === "search") return expression.text;
  if (expression.kind !== "field" || expression.field.type !== "json") return undefined;
  return expression.test.op === "search" ? expression.test.text : undefined;
}

const conjuncts = (expression: Expression): Expression[] =>
  expression.kind === "and" ? expression.items.flatMap(conjuncts) : [expression];
