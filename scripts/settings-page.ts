/**
 * docs/settings.md, generated from the declarations of all settings, so that the two cannot disagree:
 *
 *     node --import tsx scripts/settings-page.ts [--write]
 *
 * Without `--write` it exits with 1 when the committed page differs.
 */
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { type Setting, SETTINGS } from "./settings.ts";

const FILE = fileURLToPath(new URL("../docs/settings.md", import.meta.url));

const FOR_TESTS = new Set(["HEDDLE_FAULT_POINTS"]);

const INTRODUCTION = `# Settings

Every environment variable that a server reads, with its default. They are read once, at the start, and a value that cannot be is refused there, with all others that cannot. Where two names stand, the first that is set counts; a flag counts before both. What a project sets for its own graphs is in its \`langgraph.json\`: [configuration.md](configuration.md).

Written by \`npm run settings-page\`.
`;

const code = (text: string) => `\`${text}\``;

function row(setting: Setting): string {
  const names = [...setting.env.map(code), ...(setting.flag ? [code(setting.flag)] : [])].join(", ");
  const choices = setting.of ? ` One of ${setting.of.map(code).join(", ")}.` : "";
  const bounds =
    setting.max !== undefined && setting.max < Number.MAX_SAFE_INTEGER
      ? ` From ${setting.min ?? 0} to ${setting.max}.`
      : setting.min
        ? ` At least ${setting.min}.`
        : "";
  const { default: value } = setting;
  const shown = value === undefined ? "" : printed(value);
  const fallback = setting.defaultNote ?? (shown === "" ? "" : code(shown));
  const text = `${setting.description}${setting.secret ? " Secret." : ""}${choices}${bounds}`;
  return `| ${names} | ${fallback} | ${text.replaceAll("|", "\\|").replaceAll("\n", " ")} |`;
}

const printed = (value: unknown): string =>
  Array.isArray(value) ? value.join(",") : typeof value === "object" ? JSON.stringify(value) : String(value);

function page(): string {
  const seen = new Set<string>();
  const sections = SETTINGS.map(([title, about, settings]) => {
    const mine = settings.filter(({ env }) => !seen.has(env[0]!) && seen.add(env[0]!) && !FOR_TESTS.has(env[0]!));
    return [
      `## ${title}\n`,
      ...(about ? [`${about}\n`] : []),
      "| variable | default | |\n|---|---|---|",
      ...mine.map(row),
    ].join("\n");
  });
  return `${INTRODUCTION}\n${sections.join("\n\n")}\n`;
}

const text = page();
if (process.argv.includes("--write")) {
  await writeFile(FILE, text);
  console.log(`wrote ${FILE}`);
} else if ((await readFile(FILE, "utf8").catch(() => "")) !== text) {
  console.error("docs/settings.md is not what the settings say of themselves. Run: npm run settings-page");
  process.exitCode = 1;
}
