import { type Masking, maskText } from "./mask-json.ts";

export interface MaskableAttachment {
  name: string;
  type: string;
  content: Uint8Array;
}

/** Media types whose content is text. */
export const TEXT = /^text\/|[/+](?:json|xml|yaml|x-yaml|csv|javascript|x-ndjson|jsonl)\b/i;

/**
 * Masks the name of an attachment, and its content if that is text. Adds to `counts`.
 * @returns undefined when a rule masks attachments as a whole: they are dropped
 */
export function maskAttachment<T extends MaskableAttachment>(
  attachment: T,
  maskings: readonly Masking[],
  counts: number[],
): T | undefined {
  const whole = maskings.findIndex(
    ({ path, detectors, replacePattern }) => path.length === 0 && detectors.length === 0 && !replacePattern,
  );
  if (whole >= 0) {
    counts[whole]!++;
    return undefined;
  }
  const name = maskText(attachment.name, maskings, counts);
  if (!TEXT.test(attachment.type)) return { ...attachment, name };
  const text = Buffer.from(
    attachment.content.buffer,
    attachment.content.byteOffset,
    attachment.content.length,
  ).toString();
  const masked = maskText(text, maskings, counts);
  return { ...attachment, name, ...(masked !== text && { content: Buffer.from(masked) }) };
}
