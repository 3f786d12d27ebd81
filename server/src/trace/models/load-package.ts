import { createRequire } from "node:module";

import { AppError } from "../../base/errors.ts";
import { installCommand, type PackageName } from "./providers.ts";

/**
 * Packages by name. Literal names, so that compilers and checkers see them; each is loaded at the first call to its
 * provider.
 */
const LOADERS = {
  "@langchain/openai": () => import("@langchain/openai"),
  "@langchain/anthropic": () => import("@langchain/anthropic"),
  "@langchain/google-genai": () => import("@langchain/google-genai"),
  "@langchain/aws": () => import("@langchain/aws"),
  "@langchain/mistralai": () => import("@langchain/mistralai"),
  "@langchain/ollama": () => import("@langchain/ollama"),
} as const satisfies Record<PackageName, () => Promise<object>>;

type Loaded<N extends PackageName> = Awaited<ReturnType<(typeof LOADERS)[N]>>;

const isMissing = (error: unknown): boolean => (error as { code?: string }).code === "ERR_MODULE_NOT_FOUND";

/** Loads an optional package. Throws 424, which names the command that installs it. */
export async function loadPackage<N extends PackageName>(name: N): Promise<Loaded<N>> {
  try {
    return (await LOADERS[name]()) as Loaded<N>;
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new AppError(
      424,
      `The package ${name}, which calls this provider, is not installed. Install it beside Heddle: ${installCommand(name)}`,
      { cause: error },
    );
  }
}

/** Loads LangChain's messages, a dependency of every package above. */
export const loadMessages = () => import("@langchain/core/messages");

/** Whether the package can be found. Does not load it. */
export function isInstalled(name: PackageName): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}
