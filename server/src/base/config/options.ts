/**
 * Declaration of an option, kept beside the code that uses it: environment variables, type, effect. Values are read,
 * validated and frozen at boot; nothing else reads the environment.
 */
export interface OptionSpec<T> {
  /** Environment variables; the first that is set wins. */
  env: string[];
  default: T;
  description: string;
  parse(text: string): T;
  secret?: boolean;
}

export type Options<D> = Readonly<{ [K in keyof D]: D[K] extends OptionSpec<infer T> ? T : never }>;

export class ConfigError extends Error {
  override name = "ConfigError";
}

interface Described<T> {
  env: string[];
  default: T;
  description: string;
  secret?: boolean;
}

export function integer(spec: Described<number> & { min?: number; max?: number }): OptionSpec<number> {
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = spec;
  return {
    ...spec,
    parse(text) {
      const value = Number(text);
      if (!Number.isInteger(value) || value < min || value > max) {
        throw new ConfigError(`must be a whole number from ${min} to ${max}, not "${text}"`);
      }
      return value;
    },
  };
}

export function text<T extends string | undefined>(spec: Described<T>): OptionSpec<T | string> {
  return { ...spec, parse: (value) => value };
}

/** Splits a list separated by commas. Empty parts are left out. */
export const splitList = (text: string): string[] =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

export const list = (spec: Omit<Described<readonly string[]>, "default">): OptionSpec<readonly string[]> => ({
  ...spec,
  default: [],
  parse: splitList,
});

export function flag(spec: Described<boolean>): OptionSpec<boolean> {
  return {
    ...spec,
    parse(value) {
      if (/^(1|true|yes|on)$/i.test(value)) return true;
      if (/^(0|false|no|off)$/i.test(value)) return false;
      throw new ConfigError(`must be true or false, not "${value}"`);
    },
  };
}

export function choice<const T extends string>(spec: Described<NoInfer<T>> & { of: readonly T[] }): OptionSpec<T> {
  return {
    ...spec,
    parse(value) {
      const found = spec.of.find((allowed) => allowed === value);
      if (found === undefined) throw new ConfigError(`must be one of ${spec.of.join(", ")}, not "${value}"`);
      return found;
    },
  };
}

/** Reads all declared options and reports every invalid value at once. `overrides` (flags) win over the environment. */
export function readOptions<D extends Record<string, OptionSpec<never> | OptionSpec<unknown>>>(
  declared: D,
  env: Record<string, string | undefined>,
  overrides: Partial<Options<D>> = {},
): Options<D> {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, spec] of Object.entries(declared)) {
    const override = overrides[name as keyof typeof overrides];
    const variable = spec.env.find((variable) => env[variable] !== undefined && env[variable] !== "");
    if (override !== undefined) values[name] = override;
    else if (variable === undefined) values[name] = spec.default;
    else {
      try {
        values[name] = spec.parse(env[variable]!);
      } catch (error) {
        problems.push(`${variable} ${(error as Error).message}. ${spec.description}`);
      }
    }
  }
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
  return Object.freeze(values) as Options<D>;
}
