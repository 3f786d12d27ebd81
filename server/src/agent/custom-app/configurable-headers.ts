import { isInternalHeader } from "../../base/http/internal-headers.ts";
import { credentialsIn } from "../../identity/platform-credentials.ts";
import { CREDENTIAL_HEADERS } from "../../base/auth/credential-headers.ts";
import type { HeaderRules } from "../project/http-schema.ts";

const NEVER: ReadonlySet<string> = new Set([...CREDENTIAL_HEADERS, "proxy-authorization", "x-tenant-id"]);

/** Whether a header may be stored and shown: it carries no credential, by its name or in its value. */
export const isStorable = (name: string, value = ""): boolean =>
  !NEVER.has(name) && !isInternalHeader(name) && credentialsIn(value).length === 0;

/**
 * Headers that become part of a run's configuration, in lower case: `x-*` and the user agent, or those
 * in `http.configurable_headers.includes`. Its `excludes` always win, and headers with credentials are never included.
 */
export function configurableHeaders(headers: Headers, rules: HeaderRules | undefined): Record<string, string> {
  const isChosen = chosenHeaders(rules, (name) => name.startsWith("x-") || name === "user-agent");
  const chosen: Record<string, string> = {};
  headers.forEach((value, name) => {
    if (isChosen(name) && isStorable(name, value)) chosen[name] = value;
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
