import { resolve } from "node:path";

import { declareActions, describeActions, readAction } from "../core/actions.ts";
import { UsageError } from "../core/flags.ts";
import { TraceApi } from "../core/trace-api.ts";
import { TRACE_FLAGS } from "../core/trace-flags.ts";
import { formatAge } from "../core/relative-time.ts";
import { LIST_FLAGS } from "./reading/list-flags.ts";
import { cell, type Listing, printList } from "./reading/print-list.ts";
import { clean } from "./reading/run-lists.ts";
import { diffPrompts } from "./prompts/diff-prompts.ts";
import { listPrompts, type PromptName } from "./prompts/prompt-api.ts";
import { checkName, listFiles, LOCK_FILE, readLock } from "./prompts/prompt-files.ts";
import { pullPrompts } from "./prompts/pull-prompts.ts";
import { pushPrompts } from "./prompts/push-prompts.ts";

export const summary = "Keep prompts as files in a repository";

const argument = {
  placeholder: "NAME",
  what: "name of the prompt",
  isOptional: true,
} as const;

export const command = declareActions({
  noun: "prompts",
  about: `Keeps prompts in a directory: NAME.json or NAME.yaml holds a prompt's manifest, NAME.md its
README, and ${LOCK_FILE} the commit that each file is based on. Without NAME, an
action concerns all prompts that have a file. A NAME may name a version, as NAME:TAG or
NAME:COMMIT, and a public prompt of another workspace as OWNER/NAME. Examples:

  heddle prompts pull support-answer
  heddle prompts diff --tag production
  heddle prompts push --message "Shorter answers" --tag staging`,
  actions: {
    list: { summary: "List the prompts of the workspace with the tags of their commits." },
    show: {
      summary: "Print the manifest of a prompt, of the latest commit or that of --tag.",
      argument: { placeholder: "NAME", what: "name of the prompt", list: "heddle prompts list" },
    },
    pull: { summary: "Write prompts into files, the latest commit or that of --tag.", argument },
    push: {
      summary:
        "Commit the files that differ from the latest commit. Exits with 1, and prints the differences, when a prompt has a commit that its file is not based on.",
      argument,
    },
    diff: {
      summary:
        "Print what a push would change. Exits with 0 without differences, with 1 if there are any, with 2 on an error.",
      argument,
    },
  },
  flags: {
    ...TRACE_FLAGS,
    dir: { type: "text", placeholder: "DIR", default: "prompts", description: "Directory of the files." },
    tag: {
      type: "text",
      placeholder: "TAG",
      description: "For pull and diff: the commit with this tag. For push: the tag to set on the pushed commit.",
    },
    workspace: LIST_FLAGS.workspace,
    json: { ...LIST_FLAGS.json, only: ["list", "show"] },
    limit: { ...LIST_FLAGS.limit, only: ["list"] },
    cursor: { ...LIST_FLAGS.cursor, only: ["list"] },
    all: { type: "switch", default: false, only: ["pull"], description: "Pull all prompts of the workspace." },
    format: {
      type: "text",
      placeholder: "NAME",
      default: "json",
      only: ["pull"],
      description: "Format of new files: json, the manifest as it is stored, or yaml.",
    },
    message: { type: "text", placeholder: "TEXT", only: ["push"], description: "Description of the commits." },
    force: {
      type: "switch",
      default: false,
      only: ["pull", "push"],
      description: "Discard changes of the files, or commit on top of a newer commit.",
    },
    "dry-run": {
      type: "switch",
      default: false,
      only: ["pull", "push"],
      description: "Change nothing, and print what would be done.",
    },
  },
});

export const help = (): string => describeActions(command);

export async function run(args: string[]): Promise<void> {
  const { action, argument: name, options } = readAction(command, args);
  const { format, force, message, tag } = options;
  if (format !== "json" && format !== "yaml") throw new UsageError(`--format must be json or yaml, not "${format}".`);
  const directory = resolve(options.dir);
  const api = new TraceApi(options.url, options["api-key"], options.workspace);
  if (action === "list") return printList(api, PROMPTS, options);
  if (action === "show") return showPrompt(api, name, options);
  const selection = { api, directory, tag, print: (line: string) => void process.stdout.write(`${line}\n`) };
  const dryRun = options["dry-run"];
  if (action === "pull") {
    const named = options.all ? (await listPrompts(api)).map((each) => ({ owner: "-", name: checkName(each) })) : [];
    const prompts = options.all ? named : select(directory, name);
    await pullPrompts(selection, prompts, { format, force, dryRun });
  } else if (action === "push") {
    const prompts = select(directory, name).filter(({ owner }) => name !== "" || owner === "-");
    const versioned = prompts.find(({ version }) => version !== undefined);
    if (versioned)
      throw new UsageError(`A push has no version: heddle prompts push ${versioned.name} --tag ${versioned.version}.`);
    await pushPrompts(selection, prompts, { message, force, dryRun });
  } else {
    try {
      if (await diffPrompts(selection, select(directory, name))) process.exitCode = 1;
    } catch (error) {
      if (error instanceof UsageError) throw error;
      console.error(`heddle: ${(error as Error).message}`);
      process.exitCode = 2;
    }
  }
}

const PROMPTS: Listing = {
  tool: "list_prompts",
  field: "prompts",
  what: "prompts",
  input: {},
  columns: {
    PROMPT: (each) => cell(each["name"], 40),
    COMMITS: (each) => cell(each["commits"]),
    "LAST COMMIT": (each) => cell(each["last_commit"], 12),
    TAGS: (each) => cell((each["commit_tags"] as string[]).join(", "), 40),
    UPDATED: (each) => formatAge(each["updated_at"] as string),
    DESCRIPTION: (each) => cell(each["description"]),
  },
};

async function showPrompt(api: TraceApi, text: string, { tag, json }: { tag: string | undefined; json: boolean }) {
  const [name, version] = text.split(":", 2) as [string, string?];
  const read = await api.callTool<{ manifest: unknown }>("read_prompt", { name, version: tag ?? version });
  process.stdout.write(`${json ? JSON.stringify(read) : clean(JSON.stringify(read.manifest, null, 2))}\n`);
}

type Selected = PromptName & { version?: string };

/** Returns the prompt of this name, or those with files. @throws UsageError */
function select(directory: string, text: string): Selected[] {
  const lock = readLock(directory);
  if (text !== "") {
    const match = /^(?:([^/:]+)\/)?([^/:]+)(?::(.+))?$/.exec(text);
    if (!match) throw new UsageError(`"${text}" is not a prompt: use NAME, NAME:TAG, NAME:COMMIT or OWNER/NAME.`);
    const [, owner, name, version] = match;
    if (owner !== undefined && owner !== "-") checkName(owner);
    return [
      { owner: owner ?? lock[name!]?.owner ?? "-", name: checkName(name!), ...(version !== undefined && { version }) },
    ];
  }
  const names = listFiles(directory);
  if (names.length === 0) {
    throw new UsageError(
      `There are no prompts in ${directory}. Pull one by heddle prompts pull NAME, or all by --all.`,
    );
  }
  return names.map((name) => ({ owner: lock[name]?.owner ?? "-", name }));
}
