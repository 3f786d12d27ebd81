/** The project's own encryption: `encryption.path` of langgraph.json. Its blob handlers encrypt Heddle's data keys. */
import { ConfigError } from "../../base/config/options.ts";
import { languageOf } from "../../base/graph-language.ts";
import { loadExport } from "../project/load-export.ts";
import type { Project } from "../project/read-project.ts";
import type { PythonCode } from "../python-code/python-code.ts";
import { CUSTOM, type KeyWrapper } from "./key-wrapper.ts";

const KEY = "encryption.path";
const LIMIT_MS = 30_000;
/** What handlers get besides the bytes, as from the official server for checkpoints. */
const CONTEXT = { model: "checkpoint", field: null, metadata: {} };

/** @throws ConfigError when there are no such handlers */
export async function loadCustomHandlers(
  project: Project,
  python: Pick<PythonCode, "convertKey">,
): Promise<KeyWrapper | undefined> {
  const path = project.config.encryption?.path;
  if (path === undefined) return undefined;
  if (languageOf(path) === "python") {
    return {
      id: CUSTOM,
      wrap: async (_, key) => (await python.convertKey("encrypt", key)).key,
      unwrap: async (_, wrapped) => python.convertKey("decrypt", wrapped),
    };
  }
  return fromObject(await loadExport(project, path, KEY), path);
}

type BlobHandler = (context: typeof CONTEXT, bytes: Uint8Array) => Promise<unknown>;

function fromObject(value: unknown, path: string): KeyWrapper {
  const { encrypt, decrypt, context } = value as {
    encrypt?: { blob?: BlobHandler; json?: unknown };
    decrypt?: { blob?: BlobHandler; json?: unknown };
    context?: unknown;
  };
  if (context !== undefined) throw new ConfigError(`${KEY}: ${path} has "context", which Heddle does not support.`);
  if (encrypt?.json !== undefined || decrypt?.json !== undefined)
    throw new ConfigError(
      `${KEY}: ${path} has "json", which Heddle does not call: inputs, values and store items are encrypted as a whole ` +
        "with data keys, and metadata and config stay readable. Remove encrypt.json and decrypt.json, and keep secrets " +
        "out of metadata and config.",
    );
  if (typeof encrypt?.blob !== "function" || typeof decrypt?.blob !== "function")
    throw new ConfigError(
      `${KEY}: ${path} must be {encrypt: {blob(context, bytes)}, decrypt: {blob(context, bytes)}}.`,
    );
  const bytesOf = (result: unknown, name: string): Buffer => {
    if (result instanceof Uint8Array) return Buffer.from(result);
    throw new ConfigError(`${KEY}: ${name}.blob of ${path} must return a Uint8Array.`);
  };
  return {
    id: CUSTOM,
    wrap: async (_, key) => bytesOf(await withinLimit(encrypt.blob!(CONTEXT, key), path), "encrypt"),
    async unwrap(_, wrapped) {
      const result = await withinLimit(decrypt.blob!(CONTEXT, wrapped), path);
      if (result instanceof Uint8Array) return { key: Buffer.from(result) };
      const { plaintext, replacement } = (result ?? {}) as { plaintext?: unknown; replacement?: unknown };
      return {
        key: bytesOf(plaintext, "decrypt"),
        replacement: replacement == null ? undefined : bytesOf(replacement, "decrypt"),
      };
    },
  };
}

function withinLimit<T>(work: Promise<T>, path: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new ConfigError(`${KEY}: a handler of ${path} did not answer within ${LIMIT_MS / 1000} s.`)),
      LIMIT_MS,
    );
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
