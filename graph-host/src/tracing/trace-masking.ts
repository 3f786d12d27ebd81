import { maskAttachment } from "../../../host-kit/src/masking/mask-attachment.ts";
import { maskJson, type Masking } from "../../../host-kit/src/masking/mask-json.ts";
import {
  maskBatch,
  RUN_FIELDS,
  maskEverything,
  type MaskingByField,
  readMasking,
} from "../../../host-kit/src/masking/read-masking.ts";

/** Reads the rules of this process. Of a setting that cannot be read, the traces keep no values. */
export function traceMasking(log: (message: string) => void): MaskingByField | undefined {
  try {
    return readMasking(process.env["HEDDLE_TRACE_MASKING"]);
  } catch (error) {
    log(`HEDDLE_TRACE_MASKING: ${(error as Error).message}. Until it is corrected, traces contain no values.`);
    return maskEverything();
  }
}

/** Returns what masks the body of a batch. A body that cannot be masked is sent without values. */
export function batchMask(masking: MaskingByField): (body: string) => string {
  const [mask, hide] = [maskBatch(masking), maskBatch(maskEverything())];
  return (body) => {
    try {
      return mask(body);
    } catch {
      return hide(body);
    }
  };
}

/** Masks the values of a run that is not sent as JSON, because it has attachments. */
export function maskValues<T extends object>(run: T, masking: MaskingByField | undefined): T {
  if (!masking) return run;
  const masked = { ...run } as Record<string, unknown>;
  for (const field of RUN_FIELDS) {
    const rules = masking[field];
    const text = rules && JSON.stringify(masked[field]);
    if (text !== undefined) masked[field] = JSON.parse(maskJson(text, rules!).text);
  }
  const { attachments } = masked;
  if (masking.attachments && attachments) masked["attachments"] = maskFiles(attachments as Files, masking.attachments);
  return masked as T;
}

/** Attachments as the client takes them. */
type File = [string, Uint8Array | ArrayBuffer] | { mimeType: string; data: Uint8Array | ArrayBuffer };
type Files = Record<string, File>;

function maskFiles(files: Files, rules: readonly Masking[]): Files {
  const kept = Object.entries(files).flatMap(([name, file]) => {
    const [type, data] = Array.isArray(file) ? file : [file.mimeType, file.data];
    const content = data instanceof ArrayBuffer ? new Uint8Array(data) : data;
    const masked = maskAttachment({ name, type, content }, rules, []);
    return masked ? [[masked.name, [masked.type, masked.content] as File] as const] : [];
  });
  return Object.fromEntries(kept);
}
