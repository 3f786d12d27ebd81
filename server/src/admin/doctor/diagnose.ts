import { checkAccess } from "./check-access.ts";
import { checkDatabase } from "./check-database.ts";
import { checkDataDirectory, checkKeyFile, checkSettings, checkVersions } from "./check-machine.ts";
import { checkPorts } from "./check-ports.ts";
import { checkBlobs, checkRedis, checkTraceStore } from "./check-stores.ts";
import { failure, type Finding, type Findings, reason } from "./finding.ts";
import { type DoctorSettings, type DoctorTarget, readDoctorSettings } from "./read-settings.ts";

const CHECKS: [name: string, check: (settings: DoctorSettings) => Findings | Iterable<Finding>][] = [
  ["versions", checkVersions],
  ["settings", checkSettings],
  ["data-directory", checkDataDirectory],
  ["secrets-keys", checkKeyFile],
  ["ports", checkPorts],
  ["postgres", checkDatabase],
  ["traces", checkTraceStore],
  ["attachments", checkBlobs],
  ["redis", checkRedis],
  ["access", checkAccess],
];

/** Examines an installation, running or not, and yields what it finds, one check after the other. */
export async function* diagnose(target: DoctorTarget): Findings {
  const settings = readDoctorSettings(target);
  for (const [name, check] of CHECKS) {
    try {
      yield* check(settings);
    } catch (error) {
      yield failure(name, `The check itself failed: ${reason(error)}.`, "Please report this as a defect of Heddle.");
    }
  }
}
