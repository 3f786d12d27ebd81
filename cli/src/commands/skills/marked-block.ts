import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const BEGIN = "<!-- heddle:begin, written by heddle skills write; changes between these marks are lost -->";
const END = "<!-- heddle:end -->";

export type Outcome = "written" | "updated" | "unchanged" | "kept";

/**
 * Writes a marked block into a file, and leaves everything else in it as it is. A file without the marks gets the block
 * at its end, or is `kept` unchanged when `appends` is false. `head` begins a new file.
 */
export function writeBlock(
  file: string,
  text: string,
  { head = "", appends }: { head?: string; appends: boolean },
): Outcome {
  const block = `${BEGIN}\n${text.trimEnd()}\n${END}\n`;
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, head + block);
    return "written";
  }
  const before = readFileSync(file, "utf8");
  const begin = before.indexOf(BEGIN);
  const end = before.indexOf(END, begin);
  if (begin === -1 && !appends) return "kept";
  if (begin !== -1 && end === -1) throw new Error(`${file} has the first mark of Heddle's text and no ${END}. Add it.`);
  const separator = before === "" || before.endsWith("\n\n") ? "" : before.endsWith("\n") ? "\n" : "\n\n";
  const after =
    begin === -1
      ? before + separator + block
      : before.slice(0, begin) + block + before.slice(end + END.length).replace(/^\r?\n/, "");
  if (after === before) return "unchanged";
  writeFileSync(file, after);
  return "updated";
}
