import { readFileSync, writeFileSync } from "node:fs";

/** Writes a generated file with `--write`; else fails if the committed one is another. */
export function writeOrCompare(file: string, text: string, problem: string): void {
  if (process.argv.includes("--write")) {
    writeFileSync(file, text);
    console.log(`wrote ${file}`);
  } else if (readIfThere(file) !== text) {
    console.error(problem);
    process.exitCode = 1;
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
