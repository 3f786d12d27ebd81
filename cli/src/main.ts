import { COMMANDS } from "./commands.ts";
import { UsageError } from "./core/flags.ts";
import { readVersion } from "./core/version.ts";

function overview(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length)) + 1;
  const rows = Object.entries(COMMANDS).map(([name, { summary }]) => `  heddle ${name.padEnd(width)} ${summary}`);
  return `Heddle ${readVersion()}, a self-hosted server for LangGraph agents.

Usage:
${rows.join("\n")}
  heddle help COMMAND
  heddle --version
`;
}

async function main(args: string[]): Promise<void> {
  const [name, ...rest] = args;
  const ofAll = name === "help" && (rest[0] === undefined || rest[0].startsWith("-"));
  if (name === undefined || name === "--help" || name === "-h" || ofAll) {
    process.stdout.write(overview());
    return;
  }
  if (name === "--version" || name === "-v") {
    process.stdout.write(`${readVersion()}\n`);
    return;
  }
  const wantsHelp = name === "help" || rest.includes("--help") || rest.includes("-h");
  const commandName = name === "help" ? rest[0]! : name;
  const command = Object.hasOwn(COMMANDS, commandName) ? COMMANDS[commandName]! : undefined;
  if (!command) throw new UsageError(`Unknown command "${commandName}".\n\n${overview()}`);
  if (wantsHelp) process.stdout.write(command.help());
  else await command.run(rest);
}

// the reader of a pipe, such as head, has read enough
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
});

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (error instanceof UsageError) {
    console.error(`heddle: ${error.message}`);
    process.exit(2);
  }
  // The message contains what a user can act on; unforeseen errors get the stack.
  console.error(
    error instanceof Error && process.env["HEDDLE_LOG_LEVEL"] !== "debug" ? `heddle: ${error.message}` : error,
  );
  process.exit(1);
}
