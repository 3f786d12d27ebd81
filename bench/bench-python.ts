import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { pythonEnvironment } from "../scripts/services/python-venv.ts";

/** Returns an environment with the packages of python-requirements.txt, which the first call installs, and its interpreter. */
export function benchPython(): { environment: string; python: string } {
  const requirements = fileURLToPath(new URL("python-requirements.txt", import.meta.url));
  const environment = pythonEnvironment("bench-python", requirements, () => true);
  if (!environment) throw new Error("The benchmark needs python3 with venv, and a package index.");
  return { environment, python: join(environment, "bin", "python") };
}
