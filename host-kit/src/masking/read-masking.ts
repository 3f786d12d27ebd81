import { type Detector, DETECTORS } from "./detectors.ts";
import { maskJson, type Masking } from "./mask-json.ts";

/** Fields of a run that hold its values. */
export const VALUE_FIELDS = ["inputs", "outputs", "error", "events", "extra", "serialized"] as const;
/** Fields of a run's object that can be masked. */
export const RUN_FIELDS = [...VALUE_FIELDS, "name", "tags"] as const;
/** What is masked beside a run's object: its attachments, and, in the platform, feedback. */
const OTHERS = ["attachments", "feedback"] as const;
/** Fields of rules. `metadata` is a part of `extra`. */
export const MASKED_FIELDS = [...RUN_FIELDS, "metadata", ...OTHERS] as const;
export type MaskedField = (typeof MASKED_FIELDS)[number];
/** Those of a rule that names none. Metadata name threads and models; names and tags are those of code. */
export const DEFAULT_FIELDS = ["inputs", "outputs", "error", "events"] as const satisfies MaskedField[];

export type MaskingByField = Partial<Record<Exclude<MaskedField, "metadata">, Masking[]>>;

const isDetector = (name: unknown): name is Detector => DETECTORS.includes(name as Detector);

/**
 * Reads `HEDDLE_TRACE_MASKING`: names of detectors separated by commas, or a JSON list of rules `{fields, path,
 * detectors, pattern, replacement}`, as the platform's masking rules have them (docs/masking.md).
 * @throws Error that says what is wrong
 */
export function readMasking(text: string | undefined): MaskingByField | undefined {
  const trimmed = text?.trim();
  if (!trimmed) return undefined;
  const rules = trimmed.startsWith("[")
    ? (JSON.parse(trimmed) as unknown[]).map(readRule)
    : [
        {
          fields: DEFAULT_FIELDS,
          masking: { path: [], detectors: trimmed.split(",").map((name) => readDetector(name.trim())) },
        },
      ];
  return byField(rules);
}

/** Groups rules by the fields that they mask. */
export function byField(rules: readonly { fields: readonly MaskedField[]; masking: Masking }[]): MaskingByField {
  const found: MaskingByField = {};
  for (const { fields, masking } of rules) {
    for (const field of new Set(fields)) {
      if (field !== "metadata") (found[field] ??= []).push(masking);
      else (found.extra ??= []).push({ ...masking, path: ["metadata", ...masking.path] });
    }
  }
  return found;
}

function readRule(rule: unknown): { fields: readonly MaskedField[]; masking: Masking } {
  if (typeof rule !== "object" || rule === null || Array.isArray(rule)) throw new Error("a rule must be an object");
  const { fields = DEFAULT_FIELDS, path, detectors = [], pattern, replacement } = rule as Record<string, unknown>;
  if (!Array.isArray(fields) || !fields.every((field) => MASKED_FIELDS.includes(field as MaskedField))) {
    throw new Error(`fields must be a list of ${MASKED_FIELDS.join(", ")}`);
  }
  if (!Array.isArray(detectors)) throw new Error("detectors must be a list");
  if (path !== undefined && typeof path !== "string") throw new Error("path must be a text");
  if (pattern !== undefined && typeof pattern !== "string") throw new Error("pattern must be a text");
  if (replacement !== undefined && typeof replacement !== "string") throw new Error("replacement must be a text");
  const expression = pattern === undefined ? undefined : new RegExp(pattern, "gu");
  return {
    fields: fields as MaskedField[],
    masking: {
      ...readPath(path),
      detectors: detectors.map(readDetector),
      ...(expression && { replacePattern: (text, replace) => text.replace(expression, replace) }),
      ...(replacement !== undefined && { replacement }),
    },
  };
}

/** Reads a path such as `messages.*.content`; without one the field as a whole is meant. */
export const readPath = (path: string | null | undefined): Pick<Masking, "path" | "isField"> =>
  path ? { path: path.split(".") } : { path: [], isField: true };

/** Returns what masks the body of a batch of runs: `{"post": [run, …], "patch": [run, …]}`. */
export function maskBatch(masking: MaskingByField): (body: string) => string {
  const maskings = RUN_FIELDS.flatMap((field) =>
    ["post", "patch"].flatMap((kind) =>
      (masking[field] ?? []).map((rule) => ({ ...rule, path: [kind, "*", field, ...rule.path] })),
    ),
  );
  return (body) => maskJson(body, maskings).text;
}

/** Masks every value: for a setting that cannot be read. */
export const maskEverything = (): MaskingByField =>
  byField([{ fields: [...VALUE_FIELDS, "attachments"], masking: { path: [], isField: true, detectors: [] } }]);

function readDetector(name: unknown): Detector {
  if (!isDetector(name))
    throw new Error(`there is no detector ${JSON.stringify(name)}; choose of ${DETECTORS.join(", ")}`);
  return name;
}
