import { expect, test } from "vitest";
import { parse } from "yaml";

import { COMMANDS } from "../../commands.ts";
import { readAction } from "../../core/actions.ts";
import { command } from "../experiment.ts";
import { parseCondition } from "./gate.ts";
import { WORKFLOW } from "./workflow.ts";

test("the workflow's commands exist, and take their options", () => {
  const { jobs } = parse(WORKFLOW) as { jobs: { evaluate: { steps: { run?: string }[] } } };
  const calls = jobs.evaluate.steps.flatMap(({ run }) => run ?? []);
  expect(calls.map((call) => /heddle (\w+)/.exec(call)![1])).toEqual(["prompts", "experiment"]);
  expect(COMMANDS).toHaveProperty("prompts");
  const shown = calls[1]!
    .replace(/\$\{\{(?:(?!\$\{\{).)*\}\}\s*$/s, "--set-baseline")
    .replaceAll(/\$\{\{.*?\}\}/gs, "x");
  const words = [...shown.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!);
  const { action, options } = readAction(command, words.slice(words.indexOf("experiment") + 1));
  expect([action, options.dataset, options["set-baseline"]]).toEqual(["run", "support-questions", true]);
  expect(options.gate.map(parseCondition)).toHaveLength(3);
});
