import type { Param } from "./format-param.ts";

/**
 * Piece of ClickHouse SQL with its bound values. Statements are composed from conditions built elsewhere, and no value
 * ever becomes part of the text:
 *
 *     const recent = ch`start_time >= ${bind("DateTime64(6)", since)}`;
 *     await clickhouse.rows({ name: "runs.recent", ...render(ch`select id from runs where ${all([recent, mine])}`) });
 */
export interface Fragment {
  readonly kind: "fragment";
  readonly strings: readonly string[];
  readonly values: readonly (Fragment | Bound)[];
}

/** A value and its ClickHouse type. */
export interface Bound {
  readonly kind: "bound";
  readonly type: string;
  readonly value: Param;
}

export function ch(strings: TemplateStringsArray, ...values: (Fragment | Bound)[]): Fragment {
  return { kind: "fragment", strings, values };
}

export const bind = (type: string, value: Param): Bound => ({ kind: "bound", type, value });

/** Embeds trusted text: names of columns and tables, never anything from a request. */
export const raw = (text: string): Fragment => ({ kind: "fragment", strings: [text], values: [] });

export function join(items: readonly (Fragment | Bound)[], separator: string): Fragment {
  const strings = ["", ...items.slice(1).map(() => separator), ""];
  return items.length === 0 ? raw("") : { kind: "fragment", strings, values: items };
}

/** Conjunction of conditions; true when there are none. */
export const all = (conditions: readonly Fragment[]): Fragment => combine(conditions, " and ", "true");
/** Disjunction of conditions; false when there are none. */
export const any = (conditions: readonly Fragment[]): Fragment => combine(conditions, " or ", "false");

function combine(conditions: readonly Fragment[], separator: string, none: string): Fragment {
  if (conditions.length === 0) return raw(none);
  if (conditions.length === 1) return conditions[0]!;
  return ch`(${join(conditions, separator)})`;
}

/** Renders the statement with `{p0:Type}` for each bound value; equal ones share a name. */
export function render(fragment: Fragment): { query: string; params: Record<string, Param> } {
  const names = new Map<string, string>();
  const params: Record<string, Param> = {};
  const parts: string[] = [];
  const write = (part: Fragment | Bound): void => {
    if (part.kind === "bound") {
      const key = `${part.type} ${JSON.stringify(part.value)}`;
      let name = names.get(key);
      if (name === undefined) {
        name = `p${names.size}`;
        names.set(key, name);
        params[name] = part.value;
      }
      parts.push(`{${name}:${part.type}}`);
      return;
    }
    part.strings.forEach((text, i) => {
      parts.push(text);
      const value = part.values[i];
      if (value !== undefined) write(value);
    });
  };
  write(fragment);
  return { query: parts.join(""), params };
}
