import { parseArgs } from "node:util";

/**
 * Flags are data, declared beside the command that uses them; `--help` and the reading of environment variables use the
 * same declaration. A flag takes precedence over its variables, and an earlier variable over a later one.
 */
export interface FlagSpec<A extends string = string> {
  /** `list`: text that may be given several times. */
  type: "text" | "integer" | "switch" | "list";
  /** A boolean flag is given as `--name` or `--no-name`, its variables as true or false. */
  default?: string | number | boolean;
  env?: string[];
  /** Placeholder for the value in the help text. */
  placeholder?: string;
  /** Default as shown in the help text, where it is not a constant. */
  defaultNote?: string;
  description: string;
  /** Actions of the command that take the flag. Default: all. */
  only?: readonly A[];
  /** Used by Heddle's own processes only; hidden from the help text. */
  internal?: true;
  /** Whether an empty text is a value. */
  allowsEmpty?: true;
  min?: number;
  max?: number;
}

type FlagValue<S extends FlagSpec> = S["type"] extends "integer"
  ? number
  : S["type"] extends "switch"
    ? boolean
    : S["type"] extends "list"
      ? string[]
      : string;

export type Flags<D extends Record<string, FlagSpec>> = {
  [K in keyof D]: D[K] extends { default: string | number | boolean } | { type: "list" }
    ? FlagValue<D[K]>
    : FlagValue<D[K]> | undefined;
};

/** Invalid usage; the message explains the mistake. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** Reads the flags of a command that takes no words. */
export const readFlags = <const D extends Record<string, FlagSpec>>(
  declared: D,
  args: string[],
  env: Record<string, string | undefined>,
): Flags<D> => readArguments(declared, args, env, 0).options;

/**
 * Reads the words and the flags of a command, in any order. `given`: the names of the flags that the caller wrote.
 * @param most number of words that it takes, which may depend on the first one: its action
 */
export function readArguments<const D extends Record<string, FlagSpec>>(
  declared: D,
  args: string[],
  env: Record<string, string | undefined>,
  most: number | ((action: string | undefined) => number),
): { words: string[]; given: string[]; options: Flags<D> } {
  const { texts, lists, words } = parse(declared, args);
  const stray = words[typeof most === "number" ? most : most(words[0])];
  if (stray !== undefined) throw new UsageError(`Unexpected argument "${stray}".`);
  const values: Record<string, unknown> = {};
  for (const [name, spec] of Object.entries(declared)) {
    const variable = spec.env?.find((variable) => env[variable] !== undefined && env[variable] !== "");
    if (spec.type === "list") values[name] = lists[name] ?? [];
    else if (texts[name] !== undefined) values[name] = convert(spec, `--${name}`, texts[name]);
    else if (variable) values[name] = convert(spec, variable, env[variable]!);
    else values[name] = spec.default;
  }
  return { words, given: [...Object.keys(texts), ...Object.keys(lists)], options: values as Flags<D> };
}

interface ParsedArgs {
  texts: Record<string, string | undefined>;
  lists: Record<string, string[]>;
  words: string[];
}

function parse(declared: Record<string, FlagSpec>, args: string[]): ParsedArgs {
  const options: Record<string, { type: "string" | "boolean"; multiple?: boolean }> = {};
  for (const [name, spec] of Object.entries(declared)) {
    options[name] = { type: spec.type === "switch" ? "boolean" : "string", multiple: spec.type === "list" };
    if (spec.type === "switch") options[`no-${name}`] = { type: "boolean" };
  }
  let values: Record<string, string | boolean | (string | boolean)[] | undefined>;
  let words: string[];
  try {
    // Strict: an unknown flag or a missing value is an error, never ignored.
    ({ values, positionals: words } = parseArgs({ args, options, allowPositionals: true }));
  } catch (error) {
    throw new UsageError((error as Error).message.replace(/\. To specify a positional argument.*$/s, "."));
  }
  const texts: Record<string, string | undefined> = {};
  const lists: Record<string, string[]> = {};
  for (const [name, value] of Object.entries(values)) {
    if (Array.isArray(value)) lists[name] = value.map(String);
    else if (value === true && !(name in declared)) texts[name.replace(/^no-/, "")] = "false";
    else texts[name] = String(value);
  }
  return { texts, lists, words };
}

function convert(spec: FlagSpec, source: string, value: string): string | number | boolean {
  if (spec.type === "text") {
    if (value === "" && !spec.allowsEmpty) throw new UsageError(`${source} needs a value.`);
    return value;
  }
  if (spec.type === "switch") {
    if (/^(1|true|yes|on)$/i.test(value)) return true;
    if (/^(0|false|no|off)$/i.test(value)) return false;
    throw new UsageError(`${source} must be true or false, not "${value}".`);
  }
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = spec;
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < min || number > max) {
    throw new UsageError(`${source} must be a whole number from ${min} to ${max}, not "${value}".`);
  }
  return number;
}

/** Describes each flag in one paragraph: syntax, effect, default and variables. */
export function describeFlags(declared: Record<string, FlagSpec>): string {
  const visible = Object.entries(declared).filter(([, { internal }]) => !internal);
  const rows = visible.map(([name, spec]) => {
    const isOnByDefault = spec.type === "switch" && spec.default === true;
    const usage = `--${isOnByDefault ? "no-" : ""}${name}${spec.placeholder ? ` ${spec.placeholder}` : ""}`;
    const fallback = spec.defaultNote ?? (spec.type === "switch" ? undefined : spec.default);
    const notes = [
      ...(fallback === undefined ? [] : [`default ${fallback}`]),
      ...(spec.env?.length ? [`env ${spec.env.join(", ")}`] : []),
    ];
    const about = spec.only ? `For ${list(spec.only)}: ${lowerFirst(spec.description)}` : spec.description;
    return { usage, text: about + (notes.length > 0 ? ` (${notes.join("; ")})` : "") };
  });
  const width = Math.max(...rows.map((row) => row.usage.length)) + 4;
  return rows.map((row) => `  ${row.usage.padEnd(width)}${wrap(row.text, 96 - width, width + 2)}`).join("\n");
}

const list = (names: readonly string[]): string =>
  names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names.join("");

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** Breaks a text into lines of at most `width` characters; all but the first are indented. */
export function wrap(text: string, width: number, indent: number): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1)!;
    if (last !== "" && last.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines.join(`\n${" ".repeat(indent)}`);
}
