import { CONTROL_FLAGS } from "./control-flags.ts";
import { DATA_FLAGS } from "./data-location.ts";
import type { FlagSpec } from "./flags.ts";
import { SERVER_FLAGS } from "./server-flags.ts";
import { TRACE_FLAGS } from "./trace-flags.ts";

/** Variables that single commands read, and that processes of Heddle set for each other. */
const OTHERS = [
  "HEDDLE_ROLE",
  "HEDDLE_RELOAD",
  "HEDDLE_CONSOLE_AGENT_URL",
  "HEDDLE_CONSOLE_TRACE_URL",
  "HEDDLE_CONSOLE_CONTROL_URL",
  "HEDDLE_TRACE",
  "HEDDLE_DEBUG_PORT",
  "HEDDLE_IMPORT_KEY",
  "HEDDLE_PROJECT",
  "HEDDLE_LISTENER_ID",
  "HEDDLE_LISTENER_KEY",
  "HEDDLE_CLI",
  "HEDDLE_LISTENER_NAMESPACES",
  "HEDDLE_RESTARTED_BY_LAUNCHER",
  "HEDDLE_COMPILED_SOURCES",
  "HEDDLE_HOST_PROJECT",
  "HEDDLE_HOST_DATABASE",
  "HEDDLE_HOST_DATABASE_SOCKET",
  "HEDDLE_HOST_MAX_VALUE_MB",
  "HEDDLE_HOST_SILENCE_MS",
  "HEDDLE_HOST_DEBUG_PORT",
  "HEDDLE_HOST_OWN_API",
  "HEDDLE_CODE_PROJECT",
  "HEDDLE_CODE_OWN_API",
  "HEDDLE_COMMAND",
];

/** Names of the variables that commands read, besides the settings of servers. */
export const COMMAND_VARIABLES: readonly string[] = [
  ...OTHERS,
  ...[SERVER_FLAGS, DATA_FLAGS, CONTROL_FLAGS, TRACE_FLAGS].flatMap((flags) =>
    Object.values(flags as Record<string, FlagSpec>).flatMap(({ env }) => env ?? []),
  ),
];

/**
 * Warns of variables that were probably meant as settings: they have no effect, which nothing else would tell. For
 * servers that have started, because it loads the settings of all roles.
 */
export async function warnOfMisspelled(env: Record<string, string | undefined>): Promise<void> {
  const { misspelledSettings } = await import("../../../server/src/admin/doctor/read-settings.ts");
  for (const { name, meant } of await misspelledSettings(env, COMMAND_VARIABLES)) {
    console.error(`heddle: ${name} is not a setting and has no effect. Did you mean ${meant}?`);
  }
}
