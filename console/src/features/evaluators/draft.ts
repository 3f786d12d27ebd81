import { newId } from "../../ui/new-id.ts";
import { type ModelChoice, NO_MODEL } from "../prompt-playground/draft.ts";
import { findVariables, type TemplateFormat } from "../prompt-playground/template.ts";
import type { Definition } from "./queries.ts";

export type Subject = Definition["subject"];
export type Language = "javascript" | "python";

export interface ScoreDraft {
  id: string;
  key: string;
  type: "number" | "boolean" | "category";
  description: string;
  min: number | string;
  max: number | string;
  /** Lines `label` or `label = score`. */
  choices: string;
}

/** An evaluator while it is edited. */
export interface EvaluatorDraft {
  name: string;
  description: string;
  type: "llm" | "code";
  subject: Subject;
  source: "inline" | "registry";
  format: TemplateFormat;
  messages: { id: string; role: "system" | "user" | "assistant"; content: string }[];
  repo: string;
  commit: string;
  mapping: Record<string, string>;
  model: ModelChoice;
  scores: ScoreDraft[];
  reasoning: boolean;
  examples: number | string;
  /** Dataset that the corrections become examples of; null before. */
  correctionsDataset: string | null;
  language: Language;
  code: string;
}

export const newScore = (): ScoreDraft => ({
  id: newId(),
  key: "correct",
  type: "boolean",
  description: "",
  min: 1,
  max: 5,
  choices: "good = 1\nbad = 0",
});

export const TEMPLATES: Record<Language, string> = {
  javascript: `function performEval(run, example) {
  const answer = JSON.stringify(run.outputs ?? "");
  return { key: "short", score: answer.length < 500, comment: answer.length + " characters" };
}
`,
  python: `def perform_eval(run, example):
    answer = str(run["outputs"])
    return {"key": "short", "score": len(answer) < 500, "comment": f"{len(answer)} characters"}
`,
};

export const newDraft = (): EvaluatorDraft => ({
  name: "",
  description: "",
  type: "llm",
  subject: "run",
  source: "inline",
  format: "mustache",
  messages: [
    { id: newId(), role: "system", content: "You judge the answers of an assistant. An answer is good when …" },
    {
      id: newId(),
      role: "user",
      content: "What the user asked:\n{{question}}\nWhat the assistant answered:\n{{answer}}",
    },
  ],
  repo: "",
  commit: "latest",
  mapping: { question: "question", answer: "answer" },
  model: NO_MODEL,
  scores: [newScore()],
  reasoning: true,
  examples: 0,
  correctionsDataset: null,
  language: "javascript",
  code: TEMPLATES.javascript,
});

export function fromDefinition(name: string, description: string | null, definition: Definition): EvaluatorDraft {
  const draft = {
    ...newDraft(),
    name,
    description: description ?? "",
    type: definition.type,
    subject: definition.subject,
  };
  if (definition.type === "code") return { ...draft, language: definition.language, code: definition.code };
  const { prompt, model, scores, few_shot: few } = definition;
  return {
    ...draft,
    ...("messages" in prompt
      ? {
          source: "inline" as const,
          format: prompt.template_format,
          messages: prompt.messages.map((message) => ({ id: newId(), ...message })),
        }
      : {
          source: "registry" as const,
          repo: prompt.owner === "-" ? prompt.repo : `${prompt.owner}/${prompt.repo}`,
          commit: prompt.commit,
        }),
    mapping: definition.variable_mapping,
    model: model
      ? {
          connectionId: model.connection_id ?? null,
          provider: model.provider ?? null,
          model: model.model ?? "",
          parameters: model.parameters,
        }
      : NO_MODEL,
    scores: (scores ?? []).map((score) => ({
      id: newId(),
      key: score.key,
      type: score.type,
      description: score.description,
      min: score.min ?? "",
      max: score.max ?? "",
      choices: (score.choices ?? [])
        .map(({ label, score: value }) => (value == null ? label : `${label} = ${value}`))
        .join("\n"),
    })),
    reasoning: definition.reasoning,
    examples: few?.count ?? 0,
    correctionsDataset: few?.dataset_id ?? null,
  };
}

/** Variables of the messages, in their order; those of a prompt of the registry are known to the server only. */
export const variablesOf = ({ source, messages, format, mapping }: EvaluatorDraft): string[] =>
  source === "registry"
    ? Object.keys(mapping)
    : [...new Set(messages.flatMap(({ content }) => findVariables(content, format).map(({ name }) => name)))];

const asNumber = (value: number | string): number | null => (value === "" ? null : Number(value));

function toScore({ key, type, description, min, max, choices }: ScoreDraft) {
  const base = { key: key.trim(), type, description };
  if (type === "number") return { ...base, min: asNumber(min), max: asNumber(max) };
  if (type === "boolean") return base;
  const lines = choices.split("\n").filter((line) => line.trim() !== "");
  return {
    ...base,
    choices: lines.map((line) => {
      const [, label, score] = /^(.*?)\s*=\s*(-?[\d.]+)\s*$/.exec(line) ?? [];
      return label === undefined ? { label: line.trim() } : { label: label.trim(), score: Number(score) };
    }),
  };
}

/** Body of the requests that create, change and try an evaluator, without its name. */
export function toBody(draft: EvaluatorDraft) {
  const { type, subject } = draft;
  if (type === "code") return { type, subject, code_evaluator: { code: draft.code, language: draft.language } };
  const { model, mapping } = draft;
  const names = variablesOf(draft);
  const given = names.filter((name) => (mapping[name] ?? "").trim() !== "");
  return {
    type,
    subject,
    llm_evaluator: {
      ...(draft.source === "registry"
        ? { prompt_repo_handle: draft.repo.trim(), commit_hash_or_tag: draft.commit.trim() || "latest" }
        : { prompt: draft.messages.map(({ role, content }) => ({ role, content })), template_format: draft.format }),
      variable_mapping: Object.fromEntries(given.map((name) => [name, mapping[name]!.trim()])),
      ...(model.model !== "" && {
        model: {
          ...(model.connectionId === null ? { provider: model.provider } : { connection_id: model.connectionId }),
          model: model.model,
          parameters: model.parameters,
        },
      }),
      ...(draft.scores.length > 0 && { scores: draft.scores.map(toScore) }),
      reasoning: draft.reasoning,
      num_few_shot_examples: Number(draft.examples) || 0,
      use_corrections_dataset: Number(draft.examples) > 0,
    },
  };
}
