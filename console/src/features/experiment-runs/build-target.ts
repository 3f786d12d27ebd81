import { readJson } from "../../ui/json-text.ts";

/** Values of the form, as texts. */
export interface TargetValues {
  kind: "prompt" | "assistant" | "http";
  prompt: string | null;
  commit: string;
  connectionId: string | null;
  model: string;
  url: string;
  assistantId: string;
  input: string;
  output: string;
  headers: string;
}

export const EMPTY_TARGET: TargetValues = {
  kind: "prompt",
  prompt: null,
  commit: "",
  connectionId: null,
  model: "",
  url: "",
  assistantId: "",
  input: "",
  output: "",
  headers: "",
};

/** Whether all required values are there. */
export const isTargetReady = ({ kind, prompt, url, assistantId }: TargetValues): boolean =>
  kind === "prompt" ? prompt !== null : url.trim() !== "" && (kind === "http" || assistantId.trim() !== "");

/** Builds the target that the API takes. @throws with what the user must correct */
export function buildTarget(values: TargetValues): Record<string, unknown> {
  const input = values.input.trim() === "" ? undefined : readJson(values.input, INPUT_LABELS[values.kind]);
  if (values.kind === "prompt") {
    const model = values.model.trim();
    return {
      type: "prompt",
      prompt: { repo: values.prompt!, commit: values.commit.trim() || "latest" },
      ...(values.connectionId !== null && {
        model: { connection_id: values.connectionId, ...(model !== "" && { model }) },
      }),
      ...(input !== undefined && { variables: input }),
    };
  }
  const output = readOutput(values.output);
  return {
    type: values.kind,
    url: values.url.trim(),
    ...(values.kind === "assistant" && { assistant_id: values.assistantId.trim() }),
    ...(input !== undefined && { [values.kind === "assistant" ? "input" : "body"]: input }),
    ...(output !== undefined && { output }),
    headers: readHeaders(values.headers),
  };
}

export const INPUT_LABELS = { prompt: "Variables", assistant: "Input", http: "Body" } as const;

/** Reads JSON, or a text with placeholders. */
function readOutput(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  const isJson = /^[{["]/.test(trimmed) && !trimmed.startsWith("{{");
  return isJson ? readJson(trimmed, "Output") : trimmed;
}

function readHeaders(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(":");
      if (at < 1) throw new Error(`Headers: write "Name: value", not "${line.trim()}".`);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}
