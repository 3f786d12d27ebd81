import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface PythonPackage {
  /** Directory of its Python environment. */
  environment: string;
  version: string;
}

/** Installs the newest version of a package in an environment of its own, unless the directory has one already. */
export async function installPackage(directory: string, name: string, label: string): Promise<PythonPackage> {
  const environment = join(directory, `venv-${label}`);
  const python = join(environment, "bin", "python");
  const version = async () => {
    const script = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))";
    return (await run(python, ["-c", script, name])).stdout.trim();
  };
  if (existsSync(python)) {
    const known = await version().catch(() => undefined);
    if (known !== undefined) return { environment, version: known };
  }
  console.error(`installing ${name}`);
  await run("python3", ["-m", "venv", "--clear", environment]);
  await run(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", name]);
  return { environment, version: await version() };
}
