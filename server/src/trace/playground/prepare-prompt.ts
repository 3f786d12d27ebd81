import type { Principal } from "../../base/auth/principal.ts";
import { unprocessable } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import type { ModelConfiguration, Tool } from "../models/message-schema.ts";
import { findCommit, type FoundCommit } from "./find-commit.ts";
import type { Prompt } from "./prompt.ts";
import { readManifest } from "./read-manifest.ts";
import { readFormat } from "./render-template.ts";
import type { PromptBody } from "./schema.ts";

/** Prompt of a request with what a manifest binds to it. */
export interface PreparedPrompt {
  prompt: Prompt;
  tools: Tool[];
  toolChoice?: string | undefined;
  responseSchema?: Record<string, unknown> | undefined;
  /** Model that a manifest binds. */
  model?: ModelConfiguration | undefined;
  commit?: FoundCommit | undefined;
  /** Whether the prompt is not the commit's, but one that was edited since. */
  edited: boolean;
  /** What a manifest has and calls do not use. */
  notes: string[];
}

/**
 * Reads the prompt of a request.
 * @throws 422 for none or several, or an invalid one; 404 for an unknown commit
 */
export async function preparePrompt(
  deps: Pick<TraceDeps, "sql">,
  principal: Principal,
  { messages, manifest, commit: wanted, template_format }: PromptBody,
): Promise<PreparedPrompt> {
  if (messages && manifest) throw unprocessable("messages, manifest: only one of them can be given");
  if (!messages && !manifest && !wanted) throw unprocessable("messages: required, or a manifest or a commit");
  const commit = wanted && (await findCommit(deps, principal, wanted));
  const edited = commit !== undefined && (messages !== undefined || manifest !== undefined);
  if (messages) {
    const format = readFormat(template_format, "template_format");
    const parts = messages.map((each) => {
      if (each.role === "placeholder") {
        return { kind: "placeholder" as const, variable: each.variable, optional: each.optional };
      }
      const { content, ...message } = each;
      return { kind: "message" as const, message, content, format };
    });
    return { prompt: { parts, defaults: {} }, tools: [], commit, edited, notes: [] };
  }
  const read = readManifest(manifest ?? commit!.manifest, manifest ? "manifest" : "commit.manifest");
  return { ...read, commit, edited };
}
