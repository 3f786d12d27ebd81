import type { Principal } from "../../base/auth/principal.ts";
import { notFound, unprocessable } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { type Definition, definition } from "./definition.ts";
import { AGENT_JUDGES } from "./library-agents.ts";
import { ANSWER_JUDGES } from "./library-answers.ts";
import { CODE_EVALUATORS } from "./library-code.ts";
import { type CodeEntry, judgeMessages, type JudgeEntry } from "./library-entry.ts";
import { SAFETY_JUDGES } from "./library-safety.ts";
import { createEvaluator } from "./save-evaluator.ts";
import type { ModelConfiguration } from "../models/message-schema.ts";
import type { FromLibrary } from "./wire-schema.ts";

const LIBRARY: readonly (JudgeEntry | CodeEntry)[] = [
  ...ANSWER_JUDGES,
  ...AGENT_JUDGES,
  ...SAFETY_JUDGES,
  ...CODE_EVALUATORS,
];

/** Lists the library as the API shows it. */
export const listLibrary = () =>
  LIBRARY.map((entry) => {
    const { id, name, description, type, subject } = entry;
    const shared = { id, name, description, type, subject };
    if (type === "code") {
      const { key, javascript, python } = entry as CodeEntry;
      return { ...shared, feedback_keys: [key], labelled: 0, definition: null, code: { javascript, python } };
    }
    const judge = entry as JudgeEntry;
    return {
      ...shared,
      feedback_keys: [judge.score.key],
      labelled: judge.labels.length,
      definition: judgeDefinition(judge, null),
      code: null,
    };
  });

const find = (id: string): JudgeEntry | CodeEntry => {
  const entry = LIBRARY.find((each) => each.id === id);
  if (!entry) throw notFound(`The library has no evaluator "${id}". List them: GET /v1/platform/evaluators/library`);
  return entry;
};

/** @throws 404; 422 for an evaluator in code, which has no labels */
export function findJudge(id: string): JudgeEntry {
  const entry = find(id);
  if (entry.type === "code") throw unprocessable(`"${id}" is code, which needs no check`);
  return entry;
}

export function judgeDefinition(entry: JudgeEntry, model: ModelConfiguration | null): Definition {
  return definition.parse({
    type: "llm",
    subject: entry.subject,
    prompt: { messages: judgeMessages(entry), template_format: "mustache" },
    model,
    variable_mapping: entry.variables,
    scores: [entry.score],
  });
}

/** Creates an evaluator from the library. @returns its id. @throws 404, 422 */
export function createFromLibrary(
  deps: Pick<TraceDeps, "sql" | "secrets" | "codeRunner" | "corrections">,
  principal: Principal,
  { library_id: id, name, model, variable_mapping: mapping, language }: FromLibrary,
): Promise<string> {
  const entry = find(id);
  const shared = { name: name ?? entry.name, description: entry.description, libraryId: id };
  if (entry.type === "code") {
    const chosen = language ?? "javascript";
    return createEvaluator(deps, principal, {
      ...shared,
      definition: definition.parse({ type: "code", subject: entry.subject, language: chosen, code: entry[chosen] }),
    });
  }
  const made = judgeDefinition(entry, model ?? null);
  if (made.type === "llm" && mapping) made.variable_mapping = { ...made.variable_mapping, ...mapping };
  return createEvaluator(deps, principal, { ...shared, definition: made });
}
