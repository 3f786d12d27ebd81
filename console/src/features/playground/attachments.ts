import { readDataUrl } from "../../ui/read-data-url.ts";

export interface Attached {
  name: string;
  /** MIME type. */
  type: string;
  /** Data URL. */
  url: string;
  /** Contents of a file that is text. */
  text?: string;
}

type Part = Record<string, unknown>;

/** Bytes of a file that a message may carry: it becomes a part of each later request to the model. */
const MAX_BYTES = 20_000_000;
/** Bytes of a text that is sent as text, which every model reads. */
const MAX_TEXT = 200_000;

const isText = ({ type, name }: File): boolean =>
  type.startsWith("text/") ||
  /^application\/(json|xml|yaml|x-yaml|toml|sql|javascript|typescript)$/.test(type) ||
  /\.(txt|md|csv|tsv|json|jsonl|ya?ml|toml|xml|sql|log|py|ts|tsx|js|jsx|sh|ini|env)$/i.test(name);

/** @throws when the file is too large */
export async function attachFile(file: File): Promise<Attached> {
  if (file.size > MAX_BYTES) {
    throw new Error(`${file.name} has ${Math.ceil(file.size / 1e6)} MB; a message carries files up to 20 MB.`);
  }
  const type = file.type || "application/octet-stream";
  const attached = { name: file.name, type, url: await readDataUrl(file) };
  return isText(file) && file.size <= MAX_TEXT ? { ...attached, text: await file.text() } : attached;
}

/** Returns the part of a message's content: pictures and files in the formats that LangChain's integrations convert. */
export function attachedPart({ name, type, url, text }: Attached): Part {
  if (text !== undefined) return { type: "text", text: `${name}:\n\n${text}` };
  if (type.startsWith("image/")) return { type: "image_url", image_url: { url } };
  const kind = type.startsWith("audio/") ? "audio" : "file";
  const data = url.slice(url.indexOf(",") + 1);
  return { type: kind, source_type: "base64", mime_type: type, data, metadata: { filename: name } };
}
