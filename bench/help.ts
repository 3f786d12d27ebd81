import { readFileSync } from "node:fs";

/** Returns what the comment at the head of a benchmark says of it, without marks of comments, as one line. */
export function helpOf(name: string): string {
  const text = readFileSync(new URL(`./${name}.ts`, import.meta.url), "utf8");
  const [head] = /^(?:\/\/.*\n)+|^\/\*\*[^]*?\*\//.exec(text) ?? [""];
  return head
    .replaceAll(/^\/\*\*|\*\/$|^ *(?:\/\/|\*) ?/gm, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** Returns the first sentence of a benchmark's help, after its command. */
export const summaryOf = (name: string): string =>
  /^npm run bench(?: -- [^:]*)?: (.*?[.:])(?: |$)/.exec(helpOf(name))?.[1]?.replace(/[.:]$/, "") ?? "";
