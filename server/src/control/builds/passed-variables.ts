import { splitList } from "../../base/config/options.ts";

/** Returns the variables of this process that builds get. @param names separated by commas, from HEDDLE_BUILD_ENV */
export function passedVariables(names: string): Record<string, string> {
  // oxlint-disable-next-line node/no-process-env -- which of its names are passed on is a setting
  const own = process.env;
  return Object.fromEntries(
    splitList(names).flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]] as const])),
  );
}
