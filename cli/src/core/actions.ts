import { describeFlags, type Flags, type FlagSpec, readArguments, UsageError, wrap } from "./flags.ts";
import { isUuid } from "./uuid.ts";

/** The word that an action takes. */
interface Argument {
  placeholder: string;
  /** Names it in messages: `name of the deployment`. */
  what: string;
  /** Flag that gives the same. */
  flag?: string;
  /** Whether it must be a UUID. */
  isUuid?: true;
  /** Command that lists the values. */
  list?: string;
  /** Whether the action can go without it. */
  isOptional?: true;
}

export interface ActionSpec {
  /** One sentence for the help text and docs/commands.md. */
  summary: string;
  argument?: Argument;
  /** A further word after the argument. */
  second?: Argument;
}

/**
 * A command with actions, declared as data: the parser, the error texts, the help and docs/commands.md use the same
 * declaration. A flag with `only` belongs to the actions that it names.
 */
export interface ActionCommand<D extends Record<string, FlagSpec>, A extends string> {
  noun: string;
  /** Paragraphs between the usage and the actions. */
  about?: string;
  actions: Record<A, ActionSpec>;
  /** What the command does without an action: its usage. Without it, an action is required. */
  bare?: string;
  flags: D;
}

/** Types the declaration of a command by its actions and flags. */
export const declareActions = <const D extends Record<string, FlagSpec<A>>, const A extends string>(
  command: ActionCommand<D, A>,
): ActionCommand<D, A> => command;

interface Call<D extends Record<string, FlagSpec>, A extends string, B> {
  action: A | (B extends string ? undefined : never);
  /** The action's argument; empty for actions that take none, and where an optional one is absent. */
  argument: string;
  /** The further word; empty for actions that take none. */
  second: string;
  options: Flags<D>;
}

/** Reads a call of the command. Throws UsageError. */
export function readAction<const D extends Record<string, FlagSpec>, const A extends string>(
  command: ActionCommand<D, A> & { bare: string },
  args: string[],
): Call<D, A, string>;
export function readAction<const D extends Record<string, FlagSpec>, const A extends string>(
  command: ActionCommand<D, A>,
  args: string[],
): Call<D, A, undefined>;
export function readAction<const D extends Record<string, FlagSpec>, const A extends string>(
  command: ActionCommand<D, A>,
  args: string[],
): Call<D, A, string | undefined> {
  const { noun, actions, flags } = command;
  const specOf = (word: string | undefined) =>
    word !== undefined && Object.hasOwn(actions, word) ? actions[word as A] : undefined;
  const { words, given, options } = readArguments(flags, args, process.env, (word) => {
    if (word === undefined ? command.bare === undefined : !specOf(word)) throw noAction(command, word);
    const spec = specOf(word);
    return spec?.second ? 3 : spec?.argument ? 2 : 1;
  });
  const [word, text, further] = words;
  const called = word === undefined ? `heddle ${noun}` : `heddle ${noun} ${word}`;
  for (const name of given) {
    const only = flags[name]!.only;
    if (only && !only.includes(word ?? "")) {
      throw new UsageError(`--${name} is not an option of ${called}. See heddle ${noun} --help.`);
    }
  }
  const { argument, second } = specOf(word) ?? {};
  return {
    action: word as A | undefined as A,
    argument: argument ? readArgument(argument, called, text, options as Record<string, unknown>) : "",
    second: second ? readArgument(second, `${called} ${text ?? ""}`, further, {}) : "",
    options,
  };
}

function readArgument(
  { placeholder, what, flag, isUuid: mustBeUuid, list, isOptional }: Argument,
  called: string,
  word: string | undefined,
  options: Record<string, unknown>,
): string {
  const flagged = flag === undefined ? undefined : (options[flag] as string | undefined);
  const hint = list ? ` To list them: ${list}` : "";
  if (word !== undefined && flagged !== undefined && word !== flagged) {
    throw new UsageError(`${called} takes one ${placeholder}, not both ${word} and ${flagged}.`);
  }
  const value = word ?? flagged;
  if (value === undefined && isOptional) return "";
  if (value === undefined) throw new UsageError(`The ${what} is missing: ${called} ${placeholder}.${hint}`);
  if (mustBeUuid && !isUuid(value)) throw new UsageError(`The ${what} must be a UUID, not "${value}".${hint}`);
  return value;
}

/** The error of a call without an action, or with an unknown one. */
function noAction({ noun, actions }: ActionCommand<Record<string, FlagSpec>, string>, word?: string): UsageError {
  const what = word === undefined ? "Missing action" : `Unknown action "${word}"`;
  return new UsageError(
    `${what}. Actions of heddle ${noun}: ${Object.keys(actions).join(", ")}. See heddle ${noun} --help.`,
  );
}

/** Returns the placeholder, in brackets for an optional argument. */
const describeArgument = ({ placeholder, isOptional }: Argument): string =>
  isOptional ? `[${placeholder}]` : placeholder;

/** Returns the placeholders of an action's words. */
export const describeArguments = ({ argument, second }: ActionSpec): string[] =>
  [argument, second].flatMap((each) => (each ? [describeArgument(each)] : []));

/** Returns the help text of a command. */
export function describeActions({
  noun,
  about,
  actions,
  bare,
  flags,
}: ActionCommand<Record<string, FlagSpec>, string>): string {
  const rows = Object.entries(actions).map(([name, spec]) => ({
    usage: [name, ...describeArguments(spec)].join(" "),
    summary: spec.summary,
  }));
  const width = Math.max(...rows.map(({ usage }) => usage.length)) + 2;
  const lines = rows.map(({ usage, summary }) => `  ${usage.padEnd(width)}${wrap(summary, 96 - width, width + 2)}`);
  const usage = [...(bare === undefined ? [] : [bare]), `heddle ${noun} ACTION [options]`].join("\n       ");
  return `Usage: ${usage}
${about === undefined ? "" : `\n${about}\n`}
Actions:
${lines.join("\n")}

Options:
${describeFlags(flags)}
`;
}
