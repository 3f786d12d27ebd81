import { existsSync, readFileSync } from "node:fs";

/** Returns the version of the package this file belongs to: the root package.json, from the sources or from `dist`. */
export function readVersion(): string {
  for (const path of ["../../../package.json", "../../../../package.json"]) {
    const url = new URL(path, import.meta.url);
    if (!existsSync(url)) continue;
    const { name, version } = JSON.parse(readFileSync(url, "utf8")) as { name?: string; version: string };
    if (name === "heddle") return version;
  }
  return "unknown";
}
