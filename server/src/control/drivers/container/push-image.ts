import { setTimeout as sleep } from "node:timers/promises";

import { BuildError } from "../../builds/build-error.ts";
import { type Engine, EngineUnreachableError, EngineError, readProgress } from "./engine.ts";
import type { ImageReference } from "./image-reference.ts";
import { authHeader } from "./images.ts";
import type { RegistryCredentials } from "./registry-credentials.ts";

/** Time without a byte after which an attempt fails. Engines send nothing while they compress and upload a layer. */
const PUSH_IDLE_MS = 600_000;
/** Pauses before the second and each later attempt. */
const PAUSES_MS = [1_000, 3_000, 10_000, 30_000];
/** Answers of registries that another attempt does not change. Network errors are none of them. */
const REJECTED = /unauthorized|authentication required|denied|forbidden|requested access|name unknown|name invalid/i;

export interface PushParams {
  /** Name with a tag, under which the engine has the image. */
  reference: ImageReference & { tag: string };
  /** Reads the credentials before each attempt. */
  credentials: () => Promise<RegistryCredentials | null>;
  write: (line: string, level?: "WARNING") => void;
  signal: AbortSignal;
  pausesMs?: readonly number[];
}

/**
 * Pushes an image to its registry, and retries while the registry does not respond.
 * @returns the digest of its manifest in the registry. Throws BuildError when the registry rejects the image or does
 * not respond, and EngineUnreachableError without an engine.
 */
export async function pushImage(engine: Engine, params: PushParams): Promise<string> {
  const { reference, write, signal, pausesMs = PAUSES_MS } = params;
  const { registry } = reference;
  for (let attempt = 1; ; attempt++) {
    write(`Pushing ${reference.name}:${reference.tag}.`);
    try {
      return await push(engine, params);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof EngineUnreachableError || error instanceof BuildError) throw error;
      const reason = lastCause((error as Error).message);
      if (error instanceof EngineError && REJECTED.test(error.message)) {
        throw new BuildError(
          `The registry ${registry} rejected the image: ${reason}. The platform's operator must check the repository ` +
            "and its credentials (HEDDLE_KUBERNETES_REGISTRY, HEDDLE_KUBERNETES_REGISTRY_CONFIG); then deploy again.",
        );
      }
      const pause = pausesMs[attempt - 1];
      if (pause === undefined) {
        throw new BuildError(
          `The image could not be pushed to the registry ${registry} in ${attempt} attempts: ${reason}. When the ` +
            "container engine can reach the registry again, deploy the same source again.",
        );
      }
      write(
        `The registry ${registry} does not accept the image yet: ${reason}. Retrying in ${pause / 1000} s.`,
        "WARNING",
      );
      await sleep(pause, undefined, { signal });
    }
  }
}

async function push(engine: Engine, { reference, credentials, signal }: PushParams): Promise<string> {
  const response = await engine.open("POST", `/images/${encodeURI(reference.name)}/push`, {
    query: { tag: reference.tag },
    // engines reject a push without this header
    headers: authHeader(reference, (await credentials()) ?? { username: "", password: "" }),
    signal,
    idleMs: PUSH_IDLE_MS,
  });
  let digest: string | undefined;
  await readProgress(response, ({ status, aux }) => {
    digest = aux?.Digest ?? /\bdigest: (sha256:[0-9a-f]{64})\b/.exec(status ?? "")?.[1] ?? digest;
  });
  if (digest === undefined) throw new Error("the container engine pushed the image but did not report its digest");
  return digest;
}

/** Shortens an engine's message, which names each step that led to the cause, to its end. */
const lastCause = (message: string): string =>
  message.replace(/^.*?(?=pinging container registry|unauthorized|denied|dial )/s, "");
