import { readFileSync } from "node:fs";

import { UsageError } from "../../core/flags.ts";

export interface TargetOptions {
  target: string;
  connection: string | undefined;
  provider: string | undefined;
  model: string | undefined;
  input: string | undefined;
  output: string | undefined;
  headers: string[];
}

/**
 * Reads `--target` and its options as the API's target.
 *
 *     prompt:NAME[@TAG|COMMIT]   assistant:ID@URL   http:URL
 *
 * @throws UsageError
 */
export function readTarget({ target, connection, provider, model, input, output, headers }: TargetOptions): object {
  const [, kind, rest = ""] = /^(prompt|assistant|http|https):(.+)$/s.exec(target) ?? [];
  const template = readTemplate("--input", input);
  const mapped = output === undefined ? {} : { output: readTemplate("--output", output) };
  if (kind === "prompt") {
    const [, owner = "-", repo, commit = "latest"] = /^(?:([^/@]+)\/)?([^/@]+)(?:@(.+))?$/.exec(rest) ?? [];
    if (repo === undefined) throw invalid(target);
    if (output !== undefined || headers.length > 0) {
      throw new UsageError("--output and --header are for targets that are called over HTTP.");
    }
    const isNamed = connection !== undefined || provider !== undefined || model !== undefined;
    return {
      type: "prompt",
      prompt: { owner, repo, commit },
      ...(template !== undefined && { variables: template }),
      ...(isNamed && {
        model: {
          ...(connection !== undefined && { connection_id: connection }),
          ...(provider !== undefined && { provider }),
          ...(model !== undefined && { model }),
        },
      }),
    };
  }
  if (connection ?? provider ?? model) throw new UsageError("--connection, --provider and --model are for prompts.");
  const sent = { headers: readHeaders(headers), ...mapped };
  if (kind === "assistant") {
    const [, id, url] = /^([^@]+)@(https?:\/\/.+)$/.exec(rest) ?? [];
    if (id === undefined) throw invalid(target);
    return { type: "assistant", assistant_id: id, url, ...(template !== undefined && { input: template }), ...sent };
  }
  if (kind === "http" || kind === "https") {
    // http:https://…, and the URL alone
    const url = rest.startsWith("//") ? target : rest;
    if (!/^https?:\/\//.test(url)) throw invalid(target);
    return { type: "http", url, ...(template !== undefined && { body: template }), ...sent };
  }
  throw invalid(target);
}

const invalid = (target: string): UsageError =>
  new UsageError(
    `"${target}" is not a target. Use prompt:NAME, prompt:NAME@TAG, assistant:ID@URL or http:URL, such as ` +
      "assistant:agent@https://agent.example or http:https://api.example/answer.",
  );

/** Reads JSON, a file of JSON as `@FILE`, or a text with placeholders. */
export function readTemplate(flag: string, value: string | undefined): unknown {
  if (value === undefined) return undefined;
  let text = value;
  if (value.startsWith("@")) {
    try {
      text = readFileSync(value.slice(1), "utf8");
    } catch (error) {
      throw new UsageError(`${flag}: cannot read ${value.slice(1)}: ${(error as Error).message}`);
    }
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    if (text.trimStart().startsWith("{") && !text.trimStart().startsWith("{{")) {
      throw new UsageError(`${flag}: not valid JSON: ${text.slice(0, 100)}`);
    }
    return text;
  }
}

function readHeaders(headers: string[]): Record<string, string> {
  return Object.fromEntries(
    headers.map((header) => {
      const [, name, value] = /^([^:\s]+):\s*(.*)$/s.exec(header) ?? [];
      if (name === undefined) throw new UsageError(`--header "${header}": write "Name: value".`);
      return [name, value!];
    }),
  );
}
