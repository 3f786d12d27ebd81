import type { HeaderRules } from "../project/http-schema.ts";

const NEVER = new Set(["x-api-key", "x-tenant-id", "x-service-key", "x-heddle-csrf"]);

/**
 * Headers that become part of a run's configuration, in lower case (contract §16.6): `x-*` and the user agent, or those
 * in `http.configurable_headers.includes`. Its `excludes` always win, and Heddle's own authentication headers are never
 * included.
 */
export function configurableHeaders(headers: Headers, rules: HeaderRules | undefined): Record<string, string> {
  const isChosen = chosenHeaders(rules, (name) => name.startsWith("x-") || name === "user-agent");
  const chosen: Record<string, string> = {};
  headers.forEach((value, name) => {
    if (!NEVER.has(name) && isChosen(name)) chosen[name] = value;
  });
  return chosen;
}

/** Compiles the rule into a predicate over names in lower case. Excludes win; without includes the default decides. */
export function chosenHeaders(
  rules: HeaderRules | undefined,
  byDefault: (name: string) => boolean,
): (name: string) => boolean {
  const includes = rules?.includes?.map(toPattern);
  const excludes = rules?.excludes?.map(toPattern) ?? [];
  return (name) => {
    if (excludes.some((pattern) => pattern.test(name))) return false;
    return includes ? includes.some((pattern) => pattern.test(name)) : byDefault(name);
  };
}

const toPattern = (name: string): RegExp =>
  new RegExp(
    `^${name
      .toLowerCase()
      .replaceAll(/[$+.^|]/g, String.raw`\$&`)
      .replaceAll("*", ".*")}$`,
  );
