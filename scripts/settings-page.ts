/**
 * docs/settings.md, written from the declarations of all settings, so that it cannot say anything else than they do:
 *
 *     node --import tsx scripts/settings-page.ts [--write]
 *
 * Without `--write` it ends with 1 when the committed page is another one.
 */
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import type { FlagSpec } from "../cli/src/core/flags.ts";
import { serveFlags } from "../cli/src/commands/serve.ts";
import { agentOptions } from "../server/src/agent/settings.ts";
import { consoleOptions } from "../server/src/console/settings.ts";
import { controlOptions } from "../server/src/control/settings.ts";
import { identityOptions } from "../server/src/identity/settings.ts";
import { secretsOptions } from "../server/src/base/secrets/settings.ts";
import { traceOptions } from "../server/src/trace/settings.ts";

const FILE = fileURLToPath(new URL("../docs/settings.md", import.meta.url));

interface Setting {
  env: string[];
  default?: unknown;
  description: string;
  of?: readonly string[];
  min?: number;
  max?: number;
  secret?: boolean;
  /** The flag of `heddle serve` that says the same. */
  flag?: string;
  defaultNote?: string;
}

const FOR_TESTS = new Set(["HEDDLE_FAULT_POINTS"]);

const INTRODUCTION = `# Settings

Every environment variable that a server reads, with its default. They are read once, at the start, and a value that cannot be is refused there, with all others that cannot. Where two names stand, the first that is set counts; a flag counts before both. What a project sets for its own graphs is in its \`langgraph.json\`: [configuration.md](configuration.md).

Written by \`npm run settings-page\`.
`;

const GROUPS: [title: string, about: string, settings: Setting[]][] = [
  ["Where and what", "`heddle serve`, `heddle dev` and `heddle up` take them, also as flags.", flagSettings()],
  ...groupsOfOptions(),
];

function flagSettings(): Setting[] {
  return Object.entries(serveFlags as Record<string, FlagSpec>).flatMap(([name, spec]) =>
    spec.env ? [{ ...spec, env: spec.env, flag: `--${name}` }] : [],
  );
}

/** What several roles know stands with "every server", so that each variable is there once. */
function groupsOfOptions(): [string, string, Setting[]][] {
  const roles = { agent: agentOptions, trace: traceOptions, control: controlOptions, console: consoleOptions };
  const of = (declared: object) => Object.values(declared) as Setting[];
  const known = new Map<string, number>();
  for (const role of Object.values(roles)) {
    for (const name of new Set(of(role).map(({ env }) => env[0]!))) known.set(name, (known.get(name) ?? 0) + 1);
  }
  const everywhere = [...of(agentOptions), ...of(traceOptions), ...of(controlOptions)].filter(
    ({ env }) => known.get(env[0]!)! > 1,
  );
  const alone = (role: keyof typeof roles) => of(roles[role]).filter(({ env }) => known.get(env[0]!) === 1);
  return [
    ["Every server", "", everywhere],
    [
      "Who gets in, and what is encrypted",
      "In every role but the console.",
      [...of(identityOptions), ...of(secretsOptions)],
    ],
    ["Agent server and workers", "", alone("agent")],
    ["Trace platform", "", alone("trace")],
    ["Control plane", "", alone("control")],
    ["Console", "", alone("console")],
  ];
}

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
  const sections = GROUPS.map(([title, about, settings]) => {
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
