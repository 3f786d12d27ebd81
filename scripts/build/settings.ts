/** All declared settings of servers, by role; several are in more than one group. */
import type { FlagSpec } from "../../cli/src/core/flags.ts";
import { serveFlags } from "../../cli/src/commands/serve.ts";
import { backupOptions } from "../../server/src/admin/backup/settings.ts";
import { agentOptions } from "../../server/src/agent/settings.ts";
import { consoleOptions } from "../../server/src/console/settings.ts";
import { controlOptions } from "../../server/src/control/settings.ts";
import { identityOptions } from "../../server/src/identity/settings.ts";
import { secretsOptions } from "../../server/src/base/secrets/settings.ts";
import { traceOptions } from "../../server/src/trace/settings.ts";

export interface Setting {
  env: string[];
  default?: unknown;
  description: string;
  of?: readonly string[];
  min?: number;
  max?: number;
  secret?: boolean;
  /** Equivalent flag of `heddle serve`. */
  flag?: string;
  defaultNote?: string;
}

export const SETTINGS: [title: string, about: string, settings: Setting[]][] = [
  [
    "Roles, ports and storage",
    "`heddle serve`, `heddle dev` and `heddle up` also accept these as flags.",
    flagSettings(),
  ],
  ...groupsOfOptions(),
];

function flagSettings(): Setting[] {
  return Object.entries(serveFlags as Record<string, FlagSpec>).flatMap(([name, spec]) =>
    spec.env ? [{ ...spec, env: spec.env, flag: `--${name}` }] : [],
  );
}

/**
 * Groups the settings by role. Settings of several roles are listed under "Every server", so that each variable occurs
 * once.
 */
function groupsOfOptions(): [string, string, Setting[]][] {
  const roles = { agent: agentOptions, trace: traceOptions, control: controlOptions, console: consoleOptions };
  const of = (declared: object) => Object.values(declared) as Setting[];
  const known = new Map<string, number>();
  for (const role of Object.values(roles)) {
    for (const name of new Set(of(role).map(({ env }) => env[0]!))) known.set(name, (known.get(name) ?? 0) + 1);
  }
  const everywhere = [...of(agentOptions), ...of(traceOptions), ...of(controlOptions)].filter(
    ({ env }) => known.get(env[0]!)! > 1,
  );
  const alone = (role: keyof typeof roles) => of(roles[role]).filter(({ env }) => known.get(env[0]!) === 1);
  return [
    ["Every server", "", everywhere],
    [
      "Access and encryption",
      "These apply to every role except the console.",
      [...of(identityOptions), ...of(secretsOptions)],
    ],
    ["Agent server and workers", "", alone("agent")],
    ["Trace platform", "", alone("trace")],
    ["Control plane", "", alone("control")],
    ["Console", "", alone("console")],
    ["Backups", "Of `heddle backup` and `heddle restore` ([backup.md](backup.md)).", of(backupOptions)],
  ];
}
