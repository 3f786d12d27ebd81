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
  ports: Record<string, number>;
}

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
