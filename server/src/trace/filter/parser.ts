/**
 * Parses text to calls, without interpreting them. The grammar, explained in docs/filter-language.md:
 *
 *     expression := NAME "(" [ argument { "," argument } [ "," ] ] ")"
 *     argument   := expression | NAME | value
 *     value      := STRING | NUMBER | "true" | "false" | "null" | "[" [ value { "," value } [ "," ] ] "]"
 */
import { FilterError } from "./filter-error.ts";
import { type Token, tokenize } from "./lexer.ts";

export type Scalar = string | number | boolean | null;

/** `at` is its offset in the text. */
export interface Call {
  kind: "call";
  at: number;
  name: string;
  args: Argument[];
}
export interface Name {
  kind: "name";
  at: number;
  text: string;
}
export interface Value {
  kind: "value";
  at: number;
  value: Scalar;
}
export interface List {
  kind: "list";
  at: number;
  items: Value[];
}
export type Argument = Call | Name | Value | List;

/** Nesting depth of calls; each level costs a stack frame here and a bracket in the statement. */
export const MAX_DEPTH = 50;
/** Calls in one expression. */
export const MAX_CALLS = 1000;

/** Returns the name of a field, which clients also write in quotes: `has("metadata", …)`. */
export function fieldName(argument: Argument | undefined): string | undefined {
  if (argument?.kind === "name") return argument.text;
  return argument?.kind === "value" && typeof argument.value === "string" ? argument.value : undefined;
}

export function parse(source: string): Call {
  const parser = new Parser(tokenize(source));
  return parser.whole();
}

const WORD_VALUES = new Map<string, Scalar>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

class Parser {
  readonly #tokens: Token[];
  #next = 0;
  #calls = 0;

  constructor(tokens: Token[]) {
    this.#tokens = tokens;
  }

  whole(): Call {
    const first = this.#peek();
    if (first.kind === "end") throw new FilterError("the expression is empty", first.at);
    const found = this.#argument(0);
    if (found.kind !== "call") {
      throw new FilterError('an expression must begin with a function, such as eq(run_type, "llm")', first.at);
    }
    const rest = this.#peek();
    if (rest.kind !== "end")
      throw new FilterError(`expected the end of the expression, found ${describeToken(rest)}`, rest.at);
    return found;
  }

  #peek(): Token {
    return this.#tokens[this.#next]!;
  }

  #isAt(mark: string): boolean {
    const token = this.#peek();
    return token.kind === "mark" && token.text === mark;
  }

  #skip(mark: string): boolean {
    if (!this.#isAt(mark)) return false;
    this.#next += 1;
    return true;
  }

  #argument(depth: number): Argument {
    const token = this.#peek();
    if (token.kind === "word") {
      this.#next += 1;
      if (this.#isAt("(")) return this.#call(token, depth);
      const value = WORD_VALUES.get(token.text);
      return value === undefined
        ? { kind: "name", at: token.at, text: token.text }
        : { kind: "value", at: token.at, value };
    }
    if (this.#isAt("[")) return this.#list();
    return this.#value();
  }

  #call(name: Token & { kind: "word" }, depth: number): Call {
    if (depth >= MAX_DEPTH) throw new FilterError(`nested more than ${MAX_DEPTH} levels deep`, name.at);
    if (++this.#calls > MAX_CALLS) throw new FilterError(`more than ${MAX_CALLS} conditions`, name.at);
    const args = this.#items("(", ")", () => this.#argument(depth + 1));
    return { kind: "call", at: name.at, name: name.text, args };
  }

  #list(): List {
    const { at } = this.#peek();
    return { kind: "list", at, items: this.#items("[", "]", () => this.#value()) };
  }

  #items<T>(open: string, close: string, item: () => T): T[] {
    const { at } = this.#peek();
    this.#next += 1;
    const items: T[] = [];
    while (!this.#skip(close)) {
      const token = this.#peek();
      if (token.kind === "end") throw new FilterError(`this ${open} has no ${close}`, at);
      if (items.length > 0 && !this.#skip(",")) {
        throw new FilterError(`expected "," or "${close}", found ${describeToken(token)}`, token.at);
      }
      // a trailing comma is accepted
      if (items.length > 0 && this.#skip(close)) break;
      items.push(item());
    }
    return items;
  }

  #value(): Value {
    const token = this.#peek();
    this.#next += 1;
    if (token.kind === "string") return { kind: "value", at: token.at, value: token.text };
    if (token.kind === "number") return { kind: "value", at: token.at, value: token.value };
    if (token.kind === "word") {
      const value = WORD_VALUES.get(token.text);
      if (value !== undefined) return { kind: "value", at: token.at, value };
      throw new FilterError(`${token.text} is not a value; put text in quotes`, token.at);
    }
    throw new FilterError(`expected a value, found ${describeToken(token)}`, token.at);
  }
}

function describeToken(token: Token): string {
  if (token.kind === "end") return "the end";
  if (token.kind === "number" || token.kind === "word" || token.kind === "mark") return `"${token.text}"`;
  return JSON.stringify(token.text);
}
