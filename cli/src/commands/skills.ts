import { join, resolve } from "node:path";

import { declareActions, describeActions, readAction } from "../core/actions.ts";
import { UsageError } from "../core/flags.ts";
import { TRACE_FLAGS } from "../core/trace-flags.ts";
import { DESCRIPTION, INSTRUCTIONS } from "./skills/instructions.ts";
import { writeBlock } from "./skills/marked-block.ts";

export const summary = "Write instructions for coding agents, and the configuration of the MCP server";

/** Directories in which coding agents look for skills. */
const SKILL_DIRECTORIES = [".claude/skills", ".agents/skills"];

export const command = declareActions({
  noun: "skills",
  about: `Tells coding agents how to read traces, find failures and add feedback, by commands and by the MCP
server of the trace platform. write keeps the text of people: it replaces only what stands between
its own marks. Examples:

  heddle skills write
  heddle skills mcp --client claude --url https://heddle.example`,
  actions: {
    write: { summary: "Write SKILL.md files and a section of AGENTS.md into a repository, or update them." },
    show: { summary: "Print the instructions." },
    mcp: { summary: "Print the configuration of the MCP server for a client. It contains no key." },
  },
  flags: {
    url: { ...TRACE_FLAGS.url, only: ["mcp"] },
    dir: {
      type: "text",
      placeholder: "DIR",
      default: ".",
      only: ["write"],
      description: "Directory of the repository.",
    },
    client: {
      type: "text",
      placeholder: "NAME",
      default: "claude",
      only: ["mcp"],
      description: "claude, cursor, vscode or codex.",
    },
  },
});

export const help = (): string => describeActions(command);

const KEY = "${HEDDLE_API_KEY}";

/** Configurations by client. Each reads the key from the environment. */
const CLIENTS: Record<string, { file: string; text(url: string): string }> = {
  claude: {
    file: ".mcp.json",
    text: (url) => json({ mcpServers: { heddle: { type: "http", url, headers: { "x-api-key": KEY } } } }),
  },
  cursor: {
    file: ".cursor/mcp.json",
    text: (url) => json({ mcpServers: { heddle: { url, headers: { "x-api-key": "${env:HEDDLE_API_KEY}" } } } }),
  },
  vscode: {
    file: ".vscode/mcp.json",
    text: (url) =>
      json({ servers: { heddle: { type: "http", url, headers: { "x-api-key": "${env:HEDDLE_API_KEY}" } } } }),
  },
  codex: {
    file: "~/.codex/config.toml",
    text: (url) => `[mcp_servers.heddle]\nurl = ${JSON.stringify(url)}\nbearer_token_env_var = "HEDDLE_API_KEY"\n`,
  },
};

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

export async function run(args: string[]): Promise<void> {
  const { action, options } = readAction(command, args);
  if (action === "show") return void process.stdout.write(INSTRUCTIONS);
  if (action === "mcp") {
    const client = Object.hasOwn(CLIENTS, options.client) ? CLIENTS[options.client] : undefined;
    if (!client)
      throw new UsageError(`--client must be one of ${Object.keys(CLIENTS).join(", ")}, not "${options.client}".`);
    console.error(`For ${client.file}; set HEDDLE_API_KEY in the environment of the client:`);
    const base = options.url.replace(/\/+$/, "").replace(/\/api\/v1$/, "");
    return void process.stdout.write(client.text(`${base}/mcp`));
  }
  const head = `---\nname: heddle\ndescription: ${JSON.stringify(DESCRIPTION)}\n---\n\n`;
  const directory = resolve(options.dir);
  for (const place of SKILL_DIRECTORIES) {
    const file = join(directory, place, "heddle", "SKILL.md");
    const outcome = writeBlock(file, INSTRUCTIONS, { head, appends: false });
    print(file, outcome === "kept" ? "kept: the file is not one of heddle skills write" : outcome);
  }
  const section = INSTRUCTIONS.replaceAll(/^#/gm, "##");
  const agents = join(directory, "AGENTS.md");
  print(agents, writeBlock(agents, section, { appends: true }));
}

const print = (file: string, outcome: string): void => void process.stdout.write(`${file}: ${outcome}\n`);
