import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";

import { languageOf } from "../../base/graph-language.ts";
import { findInterpreter, type FoundInterpreter } from "../../base/python-interpreter.ts";
import type { Project } from "./read-project.ts";

/** Directory of the Python package `heddle_host`, in a checkout and in the published package. */
const DIRECTORY = fileURLToPath(new URL("../../../../graph-host-python", import.meta.url));

/**
 * Returns the variables with which the project's interpreter finds the package, without installing it into the
 * project's environment. Output is not buffered, so that it appears when it is printed.
 */
export const packageEnvironment = (environment: Record<string, string | undefined>): Record<string, string> => ({
  PYTHONPATH: [DIRECTORY, environment["PYTHONPATH"]].filter(Boolean).join(delimiter),
  PYTHONUNBUFFERED: "1",
});

/**
 * Finds the project's interpreter.
 * @param configured interpreter that HEDDLE_PYTHON names
 */
export const projectInterpreter = (
  { dir, env, config }: Pick<Project, "dir" | "env" | "config">,
  configured: string | undefined,
): Promise<FoundInterpreter> =>
  findInterpreter({
    dir,
    packages: (config.dependencies ?? []).filter((dependency) => dependency.startsWith(".")),
    configured,
    environment: { ...env, ...process.env },
  });

/** `http.app`, where it is an ASGI app. */
export function pythonApp({ config }: Pick<Project, "config">): string | undefined {
  const { app } = config.http;
  return app !== undefined && languageOf(app) === "python" ? app : undefined;
}
