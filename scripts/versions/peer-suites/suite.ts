import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface TestResult {
  name: string;
  status: "passed" | "failed" | "skipped";
  /** First lines of the failure. */
  message: string;
}

export interface SuiteContext {
  /** Checkout of the suite's repository; it is not changed. */
  checkout: string;
  /** Empty directory for a copy of the suite. */
  directory: string;
}

export interface Suite {
  name: string;
  run(context: SuiteContext): Promise<TestResult[]>;
}

/** Time after which a runner is ended, and its suite counts as not run. */
const RUN_MS = 60 * 60_000;

/** Runs a test runner, with its output in output.log. Its exit code does not matter: results come from its report. */
export function runTests(command: string, args: string[], cwd: string, env: Record<string, string>): Promise<void> {
  return new Promise((resolve, reject) => {
    const log = openSync(join(cwd, "output.log"), "w");
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, CI: "", ...env },
      stdio: ["ignore", log, "inherit"],
      timeout: RUN_MS,
    });
    closeSync(log);
    child.once("error", reject);
    child.once("exit", (_code, signal) =>
      signal ? reject(new Error(`${command} was ended by ${signal}`)) : resolve(),
    );
  });
}

/** Replaces text in a file. @throws when it does not occur: the suite has changed, and its copy must be adapted anew */
export function edit(file: string, ...replacements: [from: string | RegExp, to: string][]): void {
  let text = readFileSync(file, "utf8");
  for (const [from, to] of replacements) {
    const edited = text.replaceAll(
      typeof from === "string" ? from : new RegExp(from.source, `${from.flags}g`),
      () => to,
    );
    if (edited === text) throw new Error(`${file} does not contain ${from}`);
    text = edited;
  }
  writeFileSync(file, text);
}

export interface PackageJson {
  name: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

/**
 * Packages that a suite takes from its own repository or pins, and whose newest published versions are tested instead;
 * of one, the pinned version may not be published.
 */
const NEWEST = /^(?:@langchain\/(?:core|langgraph(?:-\w+)*)|langchain|deepagents|langsmith|vitest-browser-angular)$/;

/** Writes a copy of a package's manifest with the newest published versions of LangChain's packages. */
export function writeManifest(
  source: string,
  directory: string,
  extra: Record<string, string>,
  without: string[],
): void {
  const manifest = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as PackageJson;
  const wanted = { ...manifest.dependencies, ...manifest.devDependencies, ...extra };
  const dependencies = Object.entries(wanted)
    .filter(([name]) => !without.includes(name))
    .map(([name, range]) => [name, NEWEST.test(name) || range.startsWith("workspace:") ? "latest" : range]);
  const copy = { name: "peer-suite", private: true, type: "module", dependencies: Object.fromEntries(dependencies) };
  writeFileSync(join(directory, "package.json"), JSON.stringify(copy, null, 2));
}

interface JestReport {
  testResults: {
    name: string;
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] | null }[];
  }[];
}

/** Reads a report of Vitest or Jest. A file that could not be run counts as one failure. */
export function readJestReport(file: string): TestResult[] {
  const report = JSON.parse(readFileSync(file, "utf8")) as JestReport;
  return report.testResults.flatMap(({ name, message, assertionResults }) =>
    assertionResults.length === 0
      ? [{ name, status: "failed" as const, message: firstLines(message) }]
      : assertionResults.map(({ fullName, status, failureMessages }) => ({
          name: fullName,
          status: status === "passed" || status === "failed" ? status : ("skipped" as const),
          message: firstLines(failureMessages?.join("\n") ?? ""),
        })),
  );
}

const firstLines = (text: string): string => text.split("\n").slice(0, 6).join("\n         ");

/** Reads a JUnit report of pytest. */
export function readJUnitReport(file: string): TestResult[] {
  const xml = readFileSync(file, "utf8");
  return [...xml.matchAll(/<testcase classname="([^"]*)" name="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g)].map(
    ([, group, name, body = ""]) => {
      const failure = /<(?:failure|error) message="([^"]*)"/.exec(body);
      const status = failure ? "failed" : body.includes("<skipped") ? "skipped" : "passed";
      return { name: `${group}.${name}`, status, message: firstLines((failure?.[1] ?? "").replaceAll("&#10;", "\n")) };
    },
  );
}
