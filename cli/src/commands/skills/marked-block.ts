import { lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
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
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined) {
    mkdirSync(dirname(file), { recursive: true });
    replaceFile(file, head + block);
    return "written";
  }
  if (!stat.isFile()) throw new Error(`${file} is no plain file; nothing was written to it.`);
  const bytes = readFileSync(file);
  const before = bytes.toString("utf8");
  if (!Buffer.from(before).equals(bytes)) throw new Error(`${file} is not UTF-8; nothing was written to it.`);
  const begin = before.indexOf(BEGIN);
  const end = before.indexOf(END, begin);
  if (begin === -1 && !appends) return "kept";
  if (begin !== -1 && end === -1) throw new Error(`${file} has the first mark of Heddle's text and no ${END}. Add it.`);
  const next = before.indexOf(BEGIN, begin + 1);
  if (begin !== -1 && next !== -1 && next < end)
    throw new Error(`${file} has a first mark of Heddle's text without ${END}. Add it.`);
  const separator = before === "" || before.endsWith("\n\n") ? "" : before.endsWith("\n") ? "\n" : "\n\n";
  const after =
    begin === -1
      ? before + separator + block
      : before.slice(0, begin) + block + before.slice(end + END.length).replace(/^\r?\n/, "");
  if (after === before) return "unchanged";
  replaceFile(file, after);
  return "updated";
}

/** Writes a file as a whole or not at all. */
function replaceFile(file: string, text: string): void {
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, text, { flag: "wx" });
  renameSync(temporary, file);
}
