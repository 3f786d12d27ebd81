import { existsSync, readFileSync, realpathSync } from "node:fs";
import { readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";

import { z } from "zod";

import { describeIssues } from "../../base/http/errors.ts";
import { BuildError } from "./build-error.ts";

/** Fields required before the installation; the agent server reads the rest, and reports errors in it. */
const projectConfig = z
  .object({
    graphs: z
      .record(z.string(), z.unknown())
      .refine((graphs) => Object.keys(graphs).length > 0, "must name at least one graph"),
    env: z.unknown().optional(),
  })
  .loose();

/**
 * Reads langgraph.json and prepares the project's environment files: only one that the config names is kept, and a
 * named one that was not uploaded is created empty, because its content arrived as secrets.
 */
export async function readProjectConfig(root: string, configPath: string): Promise<void> {
  const file = join(root, configPath);
  if (!existsSync(file)) {
    throw new BuildError(
      `The project has no file ${configPath}. Set langgraph_config_path to the path of its configuration.`,
    );
  }
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new BuildError(`${configPath} is not valid JSON: ${(error as Error).message}`);
  }
  const parsed = projectConfig.safeParse(json);
  if (!parsed.success) {
    throw new BuildError(`${configPath}: ${describeIssues(parsed.error, "the file")}`);
  }
  const named = typeof parsed.data.env === "string" ? resolve(dirname(file), parsed.data.env) : undefined;
  if (
    named !== undefined &&
    relative(realpathSync(root), named).startsWith("..") &&
    relative(root, named).startsWith("..")
  ) {
    throw new BuildError(`"env" of ${configPath} names a file outside the project.`);
  }
  for (const directory of new Set([root, dirname(file)])) {
    for (const name of await readdir(directory)) {
      const path = join(directory, name);
      if (/^\.env(\..+)?$/.test(name) && path !== named) await rm(path, { force: true, recursive: true });
    }
  }
  if (named !== undefined && !existsSync(named)) await writeFile(named, "", { mode: 0o600 });
}
