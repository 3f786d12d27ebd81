import type { ScoreKey, SubjectKind } from "./definition.ts";

/** A labelled example: values of the judge's variables, and the right answer for its key. */
export type Labelled = [values: Record<string, string>, label: boolean | number | string];

interface Entry {
  id: string;
  name: string;
  description: string;
  subject: SubjectKind;
}

export interface JudgeEntry extends Entry {
  type: "llm";
  system: string;
  /** Path by variable of the prompt. */
  variables: Record<string, string>;
  /** The key that the labels are of. */
  score: ScoreKey;
  labels: Labelled[];
}

export interface CodeEntry extends Entry {
  type: "code";
  key: string;
  javascript: string;
  python: string;
}

/** Titles of the variables in the message of the user. */
const TITLES: Record<string, string> = {
  question: "What the user asked",
  answer: "What the assistant answered",
  reference: "The right answer",
  context: "The retrieved documents",
  tool_calls: "The calls of tools with their results",
  trace: "The steps of the agent",
  thread: "The conversation",
  other: "The other assistant's answer",
};

/** Builds the messages of a judge. */
export const judgeMessages = ({ system, variables }: JudgeEntry) => [
  { role: "system" as const, content: system },
  {
    role: "user" as const,
    content: Object.keys(variables)
      .map((name) => `${TITLES[name] ?? name}:\n{{${name}}}`)
      .join("\n"),
  },
];

export const yesNo = (key: string, description: string): ScoreKey => ({ key, type: "boolean", description });
