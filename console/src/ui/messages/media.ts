type Part = Record<string, unknown>;

export interface Media {
  url: string;
  /** MIME type, or `image`, `audio`, `file` for media at another URL. */
  type: string;
  name: string;
}

/** Returns images, audio and files in the formats of OpenAI, Anthropic, Google and LangChain's standard blocks. */
export function readMedia(part: Part): Media | null {
  const kind = /image/.test(text(part["type"]) ?? "")
    ? "image"
    : /audio/.test(text(part["type"]) ?? "")
      ? "audio"
      : "file";
  const name = text(part["filename"]) ?? text(part["name"]) ?? kind;
  const inner = part["image_url"] ?? part["source"] ?? part["input_audio"] ?? part["file"] ?? part;
  if (typeof inner === "string") return { url: inner, type: kind, name };
  if (typeof inner !== "object" || inner === null) return null;
  const fields = inner as Part;
  const url = text(fields["url"]) ?? text(fields["file_url"]);
  if (url !== undefined) return { url, type: kind, name };
  const bytes = text(fields["data"]) ?? text(fields["base64"]) ?? text(fields["file_data"]);
  if (bytes === undefined) return null;
  if (bytes.startsWith("data:")) return { url: bytes, type: kind, name };
  const mediaType = text(fields["media_type"]) ?? text(fields["mime_type"]) ?? text(fields["mimeType"]);
  const type = mediaType ?? defaultType(kind, text(fields["format"]));
  return { url: `data:${type};base64,${bytes}`, type, name };
}

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

const defaultType = (kind: string, format = "wav") =>
  kind === "image" ? "image/png" : kind === "audio" ? `audio/${format}` : "application/octet-stream";
