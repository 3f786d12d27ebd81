/** Settings of a job as they are stored: everything that is chosen at the start. */
import type { ModelConfiguration } from "../models/message-schema.ts";

export interface ModelChoice {
  connection_id: string | null;
  provider: string;
  model: string;
}

export interface JobOptions {
  subject: "questions" | "failures";
  unit: "roots" | "threads";
  /** ISO times. */
  start_time: string;
  end_time: string;
  filter: string | null;
  /** Runs, or below 1 the share of all. */
  sample: number;
  hierarchy: number[] | null;
  summarize: boolean;
  summary_prompt: string | null;
  /** What the user says about the project, for prompts. */
  context: string | null;
  names: ModelChoice;
  summaries: ModelChoice;
  embedding: ModelChoice;
}

/** Returns the configuration of a call. Without a connection, the provider's default one is used. */
export const toConfiguration = (choice: ModelChoice, parameters: Record<string, unknown> = {}): ModelConfiguration => ({
  connection_id: choice.connection_id,
  provider: choice.connection_id === null ? choice.provider : null,
  model: choice.model,
  parameters,
});
