import { fileURLToPath } from "node:url";
import { relative } from "node:path";
import { errorName } from "../serialize.ts";

/** Explains to its author why a module could not be imported: cause, place, and remedy. */
export function describeImportError(error: unknown, projectDir: string): string {
  if (!(error instanceof Error)) return `The module threw ${String(error)} while loading.`;
  const frame = firstFrame(error, projectDir);
  const text = `${errorName(error)}: ${error.message}${frame ? `\n    at ${frame}` : ""}`;
  const missing = /Cannot find (?:package|module) '([^'.][^']*)'/.exec(error.message)?.[1];
  if (missing && !missing.startsWith("/") && !missing.startsWith("file:")) {
    return `${text}\nIf ${missing} is not installed, run in ${projectDir}: npm install ${packageName(missing)}`;
  }
  return text;
}

function packageName(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

/** Returns the innermost stack frame inside the project, as `src/agent.ts:12:5`. */
function firstFrame(error: Error, projectDir: string): string | undefined {
  for (const line of (error.stack ?? "").split("\n")) {
    const match = /(?:\(|at )((?:file:\/\/)?\/[^()]+?)(?:\?[^:]*)?:(\d+):(\d+)\)?$/.exec(line.trim());
    if (!match) continue;
    const file = match[1]!.startsWith("file:") ? fileURLToPath(match[1]!) : match[1]!;
    if (!file.startsWith(projectDir) || file.includes("/node_modules/")) continue;
    return `${relative(projectDir, file)}:${match[2]}:${match[3]}`;
  }
  return undefined;
}
