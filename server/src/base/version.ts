import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Reads Heddle's version from its nearest package.json above this file: in a checkout and when published. */
export function readVersion(): string {
  for (let up = "../"; up.length < 30; up += "../") {
    try {
      const file = fileURLToPath(new URL(`${up}package.json`, import.meta.url));
      const { name, version } = JSON.parse(readFileSync(file, "utf8")) as { name?: string; version?: string };
      if (name === "heddle" && version) return version;
    } catch {
      // no package.json here
    }
  }
  return "unknown";
}
