import { unprocessable } from "../../base/errors.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import type { Provider } from "./providers.ts";

const PATTERNS: Record<string, RegExp> = {
  region: /^[a-z]{2}(-[a-z]+){1,3}-\d{1,2}$/,
  api_version: /^[a-zA-Z0-9.-]{1,64}$/,
  deployment: /^[a-zA-Z0-9._-]{1,128}$/,
  organization: /^[a-zA-Z0-9._-]{1,128}$/,
  project: /^[a-zA-Z0-9._-]{1,128}$/,
};

/**
 * Checks the settings and the secrets' names of a connection.
 * @throws 422 that names the field; for `base_url` also when the outbound policy does not permit it
 */
export function checkSettings(
  outbound: Pick<Outbound, "check">,
  provider: Provider,
  settings: Record<string, string>,
  secrets: Record<string, string>,
): void {
  const known = provider.settings.map(({ name }) => name);
  for (const [name, value] of Object.entries(settings)) {
    if (!known.includes(name)) throw unknown("settings", name, known, provider);
    if (name === "base_url") checkBaseUrl(outbound, value);
    else if (!PATTERNS[name]?.test(value)) throw unprocessable(`settings.${name}: is invalid`);
  }
  for (const { name, required } of provider.settings) {
    if (required && settings[name] === undefined)
      throw unprocessable(`settings.${name}: required for ${provider.name}`);
  }
  const names = provider.secrets.map(({ name }) => name);
  for (const name of Object.keys(secrets)) {
    if (!names.includes(name)) throw unknown("secrets", name, names, provider);
  }
}

const unknown = (field: string, name: string, known: string[], provider: Provider) =>
  unprocessable(`${field}.${name}: unknown for ${provider.name}, which has: ${known.join(", ") || "none"}`);

function checkBaseUrl(outbound: Pick<Outbound, "check">, text: string): void {
  const url = outbound.check(text);
  if (url.search !== "" || url.hash !== "")
    throw unprocessable("settings.base_url: must not have a query or a fragment");
}

/**
 * Checks a call's parameters against the provider's.
 * @param where name of the field in the request
 * @throws 422 that names the parameter
 */
export function checkParameters(
  provider: Provider,
  parameters: Record<string, unknown>,
  where = "model.parameters",
): Record<string, unknown> {
  const checked: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null || value === undefined) continue;
    const field = `${where}.${name}`;
    const rule = Object.hasOwn(provider.parameters, name) ? provider.parameters[name] : undefined;
    if (!rule) {
      const names = Object.keys(provider.parameters).join(", ");
      throw unprocessable(`${field}: unknown for ${provider.name}, which has: ${names}`);
    }
    if (rule.type === "number" || rule.type === "integer") {
      const { minimum = -Infinity, maximum = Infinity } = rule;
      const isNumber = typeof value === "number" && (rule.type === "number" || Number.isInteger(value));
      if (!isNumber || value < minimum || value > maximum) {
        const kind = rule.type === "integer" ? "a whole number" : "a number";
        throw unprocessable(`${field}: must be ${kind} from ${minimum} to ${maximum}`);
      }
    } else if (rule.type === "string") {
      if (typeof value !== "string" || !rule.enum?.includes(value)) {
        throw unprocessable(`${field}: must be one of ${rule.enum?.join(", ")}`);
      }
    } else {
      const isList = Array.isArray(value) && value.length <= (rule.maxItems ?? 100);
      if (!isList || !value.every((item) => typeof item === "string" && item.length > 0 && item.length <= 256)) {
        throw unprocessable(`${field}: must be a list of at most ${rule.maxItems} texts`);
      }
      if (value.length === 0) continue;
    }
    checked[name] = value;
  }
  return checked;
}
