/**
 * The keys of langgraph.json that configure an image: `base_image` and `dockerfile_lines`. The engine's store holds the
 * images of all tenants, so lines that can read other images, or fetch on the engine's own account, are rejected.
 */
import { readFile } from "node:fs/promises";

import { z } from "zod";

import { describeIssues } from "../../../base/http/errors.ts";
import { BuildError } from "../../builds/build-error.ts";

export interface ImageKeys {
  /** Image to build from, instead of the operator's. */
  baseImage: string | null;
  /** Instructions between the base image and the project. */
  lines: string[];
  /** Major version of Node.js that the project requires. */
  nodeVersion: string | null;
}

const imageKeys = z.object({
  base_image: z.string().min(1).nullish(),
  dockerfile_lines: z.array(z.string()).nullish(),
  node_version: z.union([z.string().regex(/^\d\d$/), z.int()]).nullish(),
});

/** Reads the keys of a langgraph.json. @throws BuildError for an instruction that is not allowed */
export async function readImageKeys(configFile: string): Promise<ImageKeys> {
  const parsed = imageKeys.safeParse(JSON.parse(await readFile(configFile, "utf8")));
  if (!parsed.success) {
    throw new BuildError(`langgraph.json: ${describeIssues(parsed.error, "the file")}`);
  }
  const { base_image: baseImage, dockerfile_lines: given, node_version: node } = parsed.data;
  const lines = (given ?? []).flatMap((entry) => entry.split(/\r?\n|\r/));
  checkLines(lines);
  return { baseImage: baseImage ?? null, lines, nodeVersion: node == null ? null : String(node) };
}

/** Instructions, with the flags that each may have. */
const ALLOWED: Record<string, readonly string[]> = {
  RUN: [],
  ENV: [],
  ARG: [],
  COPY: ["chown", "chmod", "link", "parents", "exclude"],
  ADD: ["chown", "chmod", "link", "exclude", "checksum", "unpack"],
  WORKDIR: [],
  USER: [],
  SHELL: [],
  LABEL: [],
};
/** Rejected wherever they are in a line: engines disagree about where the flags of an instruction end. */
const FLAGS = /--(?:from|mount|network|security|device)\b/i;
const REMOTE = /^ADD\b.*(?:\b\w+:\/\/|\bgit@)/i;

function checkLines(lines: string[]): void {
  // as the engine reads them: comments and empty lines do not end an instruction that continues
  const joined = lines
    .filter((line) => !/^\s*(?:#|$)/.test(line))
    .join("\n")
    .replaceAll(/\\[ \t]*\n/g, "")
    .split("\n");
  for (const line of joined) {
    const instruction = line.trim();
    if (instruction === "") continue;
    const [name, ...words] = instruction.split(/\s+/) as [string, ...string[]];
    const flags = Object.hasOwn(ALLOWED, name.toUpperCase()) ? ALLOWED[name.toUpperCase()]! : null;
    if (flags === null) {
      const names = Object.keys(ALLOWED).join(", ");
      throw rejected(instruction, `the instructions ${names} are supported, without here-documents`);
    }
    const end = words.findIndex((word) => !word.startsWith("--"));
    for (const word of words.slice(0, end === -1 ? undefined : end)) {
      const flag = word.slice(2).split("=", 1)[0]!.toLowerCase();
      if (!flags.includes(flag)) throw rejected(instruction, `${name} may not have the flag --${flag}`);
    }
    if (REMOTE.test(instruction)) throw rejected(instruction, "fetch files with RUN and curl instead");
  }
  for (const line of [...lines, ...joined]) {
    if (FLAGS.test(line))
      throw rejected(line.trim(), "it may not have the flags --from, --mount, --network, --security or --device");
    // even where an engine would end a continued instruction earlier
    if (/^\s*(?:FROM|ONBUILD)\b/i.test(line)) throw rejected(line.trim(), "set base_image for another base image");
  }
}

const rejected = (line: string, why: string): BuildError =>
  new BuildError(`dockerfile_lines of langgraph.json: "${line.slice(0, 200)}" is not supported: ${why}.`);
