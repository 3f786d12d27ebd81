import { attachmentPath, type LinkSigner } from "../attachments/sign-link.ts";
import type { Attachments, ExampleItem } from "./sql.ts";

/** `base` is the public URL of the platform. Links to files below it work for a while without a key. */
export interface WireContext {
  links: LinkSigner;
  base: string;
}

/** Serializes an example, with links to its files if it was read with them. */
export function serializeExample(context: WireContext, { item, attachments }: ExampleItem): string {
  if (!attachments) return item;
  return `${item.slice(0, -1)}, "attachment_urls": ${JSON.stringify(attachmentUrls(context, attachments))}}`;
}

export const serializeExamples = (context: WireContext, items: ExampleItem[]): string =>
  `[${items.map((item) => serializeExample(context, item)).join(",")}]`;

function attachmentUrls({ links, base }: WireContext, attachments: Attachments): Record<string, object> {
  return Object.fromEntries(
    Object.entries(attachments).map(([name, { blob, mime_type }]) => {
      const presigned_url = `${base}/api/v1${attachmentPath(links.sign({ blob, mime_type, name }))}`;
      return [`attachment.${name}`, { presigned_url, mime_type }];
    }),
  );
}
