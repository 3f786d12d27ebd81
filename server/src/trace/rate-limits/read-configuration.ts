import type { Log } from "../../base/log.ts";
import { type ActiveTable, activeTable } from "./choose-rows.ts";
import type { RateLimitSettings } from "./settings.ts";
import { ALL_ROWS, type Quota, type Region } from "./table.ts";

export type Mode = "on" | "off" | "dry-run";

export interface RateLimitConfiguration {
  mode: Mode;
  table: ActiveTable;
  /** Invalid settings, for the log and for `/metrics`; each was replaced by its default. */
  problems: string[];
}

/**
 * Reads the configuration. A mistake never stops the server and never disables limits: it is logged as an error, and
 * the built-in table applies. Overrides apply all or none, so that a configuration is never half in effect.
 *
 * @param isDevelopment whether only this machine can reach the server, without a proxy
 */
export function readConfiguration(
  settings: RateLimitSettings,
  isDevelopment: boolean,
  log: Log,
): RateLimitConfiguration {
  const problems: string[] = [];
  const readChoice = <T extends string>(variable: string, value: string, choices: readonly T[], instead: T): T => {
    const found = choices.find((allowed) => allowed === value.trim().toLowerCase());
    if (found === undefined) problems.push(`${variable} must be one of ${choices.join(", ")}, not "${value}"`);
    return found ?? instead;
  };
  const mode = readChoice("HEDDLE_RATE_LIMITS", settings.rateLimits, ["auto", "on", "off", "dry-run"], "auto");
  const region: Region = readChoice("HEDDLE_RATE_LIMITS_REGION", settings.rateLimitsRegion, ["us", "eu"], "us");
  let overrides: Overrides = new Map();
  try {
    overrides = readOverrides(settings.rateLimitsOverrides);
  } catch (error) {
    problems.push(`HEDDLE_RATE_LIMITS_OVERRIDES ${(error as Error).message}`);
  }
  for (const problem of problems) log.error({ problem }, "rate limits: a setting is invalid; the default applies");
  const table = activeTable((row) => {
    const quota = overrides.get(row.id);
    return quota === undefined ? row[region] : quota;
  });
  return { mode: mode === "auto" ? (isDevelopment ? "off" : "on") : mode, table, problems };
}

type Overrides = Map<string, Quota | null>;

/** Throws with a description of the mistake. */
function readOverrides(text: string): Overrides {
  const overrides: Overrides = new Map();
  if (text.trim() === "") return overrides;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new Error(`is not valid JSON: ${(error as Error).message}`, { cause: error });
  }
  if (json === null || typeof json !== "object" || Array.isArray(json)) throw new Error("must be a JSON object");
  for (const [id, value] of Object.entries(json)) {
    if (!ALL_ROWS.some((row) => row.id === id)) {
      throw new Error(`names an unknown row "${id}"; known rows: ${ALL_ROWS.map((row) => row.id).join(", ")}`);
    }
    overrides.set(id, readQuota(id, value));
  }
  return overrides;
}

function readQuota(id: string, value: unknown): Quota | null {
  if (value === "off") return null;
  const [, count, seconds] = (typeof value === "string" && /^\s*(\d{1,9})\s*\/\s*(\d{1,6})\s*$/.exec(value)) || [];
  if (!Number(count) || !Number(seconds)) {
    throw new Error(`"${id}" must be "off" or "count/seconds" such as "100/10", both at least 1`);
  }
  return [Number(count), Number(seconds)];
}
