import { explainStart } from "./explain-start.ts";
import { consoleFiles } from "./console-files.ts";

export type ConsoleOutcome = { url: string } | { problem: string };

type Urls = { agent?: () => string | null; trace?: () => string | null; control?: () => string | null };

export interface RunningConsole {
  outcome: ConsoleOutcome;
  close(): Promise<void>;
}

/** Serves the console. A failure does not stop the other roles: the banner reports it. */
export async function serveConsole(
  address: { host: string; port: number; keysNeeded?: boolean },
  spaces: Urls,
  print: (message: string) => void,
): Promise<RunningConsole> {
  const { startConsole } = await import("../../../server/src/main.ts");
  const none = () => null;
  try {
    const files = consoleFiles();
    const server = await startConsole({
      ...address,
      files: files.directory,
      spaces: { agent: spaces.agent ?? none, trace: spaces.trace ?? none, control: spaces.control ?? none },
    });
    void files.problem.then((problem) => problem !== null && print(problem));
    return { outcome: { url: server.url }, close: () => server.close() };
  } catch (error) {
    const names = { portFlag: "--console-port", portVariable: "HEDDLE_CONSOLE_PORT" };
    const explained = explainStart(error, { ...address, ...names, databaseUri: undefined });
    return { outcome: { problem: explained.message }, close: () => Promise.resolve() };
  }
}
