import { execFile } from "node:child_process";

import { isOlder } from "../../base/is-older.ts";

const OLDEST = "3.10";
const PROBE_MS = 20_000;
const PROBE = 'import sys; print(sys.executable, "%d.%d" % sys.version_info[:2], sep="\\n")';

/**
 * Resolves the name of an interpreter to its path. A name may be a script that selects one and needs the environment,
 * which evaluators do not get. Throws with the reason if there is none that is new enough.
 */
export async function findPython(name: string): Promise<string> {
  const [executable, version] = await new Promise<string[]>((resolve, reject) => {
    execFile(name, ["-I", "-S", "-c", PROBE], { timeout: PROBE_MS, encoding: "utf8" }, (error, stdout) => {
      if (error) reject(new Error(`Python could not be started (${name}): ${error.message.split("\n")[0]}.`));
      else resolve(stdout.trim().split("\n"));
    });
  });
  if (!executable || !version) throw new Error(`${name} is not a Python interpreter.`);
  if (isOlder(version, OLDEST))
    throw new Error(`${executable} is Python ${version}; evaluators need ${OLDEST} or newer.`);
  return executable;
}
