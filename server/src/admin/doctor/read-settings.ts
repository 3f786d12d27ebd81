import { findMisspelled } from "../../base/config/misspelled.ts";
import { readOptions, type Options } from "../../base/config/options.ts";
import { processOptions } from "../../base/config/process-options.ts";
import { secretsOptions } from "../../base/secrets/settings.ts";
import type { DataLocation } from "../with-database.ts";

/** Place and addresses of the installation that is examined. */
export interface DoctorTarget extends DataLocation {
  env: Record<string, string | undefined>;
  /** Address that the servers listen on. */
  host: string;
  /** Ports by the name of their server; 0, which picks a free one, is not checked. */
  ports: Record<PortName, number>;
  /** Servers that belong to the installation because the caller says so: by role, or by their own port. */
  wanted: ReadonlySet<PortName>;
  /** Whether the caller has named all roles, so that no others belong to it. */
  hasAllRoles: boolean;
  /** Variables that commands read, besides the settings of servers. */
  variables: readonly string[];
}

export type PortName = "agent" | "trace" | "control" | "gateway" | "console";

export interface DoctorSettings extends DoctorTarget {
  minFreeDiskMb: number;
  databasePool: number;
  secrets: Options<typeof secretsOptions>;
}

/** Reads the settings that several checks need. Invalid values are replaced by defaults: `settings` reports them. */
export function readDoctorSettings(target: DoctorTarget): DoctorSettings {
  const { minFreeDiskMb, databasePool } = readValid(processOptions, target.env);
  return { ...target, minFreeDiskMb, databasePool, secrets: readValid(secretsOptions, target.env) };
}

/** Declarations of each role's settings. Loaded on demand: they take half a second. */
export async function allOptions() {
  const [{ agentOptions }, { traceOptions }, { controlOptions }, { identityOptions }, { consoleOptions }] =
    await Promise.all([
      import("../../agent/settings.ts"),
      import("../../trace/settings.ts"),
      import("../../control/settings.ts"),
      import("../../identity/settings.ts"),
      import("../../console/settings.ts"),
    ]);
  return {
    agent: agentOptions,
    trace: traceOptions,
    control: controlOptions,
    identity: { ...identityOptions, ...secretsOptions },
    console: consoleOptions,
  };
}

/** Returns the names of all settings of servers and backups. */
export async function settingNames(): Promise<string[]> {
  const { backupOptions } = await import("../backup/settings.ts");
  return [...Object.values(await allOptions()), backupOptions].flatMap((declared) =>
    Object.values(declared as Record<string, { env: string[] }>).flatMap(({ env }) => env),
  );
}

/** Returns variables that were probably meant as settings. `others`: names that are known besides those of settings. */
export async function misspelledSettings(
  env: Record<string, string | undefined>,
  others: readonly string[],
): Promise<ReturnType<typeof findMisspelled>["misspelled"]> {
  return findMisspelled(Object.keys(env), new Set([...others, ...(await settingNames())])).misspelled;
}

/** Reads options; each invalid value is replaced by its default. */
export function readValid<D extends Parameters<typeof readOptions>[0]>(
  declared: D,
  env: Record<string, string | undefined>,
): Options<D> {
  const values = Object.entries(declared).map(([name, spec]) => {
    try {
      return [name, readOptions({ [name]: spec }, env)[name]];
    } catch {
      return [name, spec.default];
    }
  });
  return Object.fromEntries(values) as Options<D>;
}
