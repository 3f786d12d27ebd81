type Part = Record<string, unknown>;

export interface Media {
  url: string;
  /** MIME type, or `image`, `audio`, `video`, `file` for media at another URL. */
  type: string;
  name: string;
}

/** Returns images, audio, videos and files in the formats of OpenAI, Anthropic, Google and LangChain's standard blocks. */
export function readMedia(part: Part): Media | null {
  const kind = ["image", "audio", "video"].find((name) => text(part["type"])?.includes(name)) ?? "file";
  const inner = part["image_url"] ?? part["source"] ?? part["input_audio"] ?? part["file"] ?? part;
  const named = [part, inner as Part, (part["metadata"] ?? {}) as Part].flatMap(
    (fields) => text(fields["filename"]) ?? text(fields["name"]) ?? [],
  );
  const name = named[0] ?? kind;
  if (typeof inner === "string") return { url: inner, type: dataType(inner) ?? kind, name };
  if (typeof inner !== "object" || inner === null) return null;
  const fields = inner as Part;
  const url = text(fields["url"]) ?? text(fields["file_url"]);
  if (url !== undefined) return { url, type: dataType(url) ?? kind, name };
  const bytes = text(fields["data"]) ?? text(fields["base64"]) ?? text(fields["file_data"]);
  if (bytes === undefined) return null;
  if (bytes.startsWith("data:")) return { url: bytes, type: dataType(bytes) ?? kind, name };
  const mediaType = text(fields["media_type"]) ?? text(fields["mime_type"]) ?? text(fields["mimeType"]);
  const type = mediaType ?? defaultType(kind, text(fields["format"]));
  return { url: `data:${type};base64,${bytes}`, type, name };
}

/** Type that a data URL names; a file may be a picture. */
const dataType = (url: string): string | undefined => /^data:([\w.+-]+\/[\w.+-]+)[;,]/.exec(url)?.[1];

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

const defaultType = (kind: string, format = "wav") =>
  kind === "image"
    ? "image/png"
    : kind === "audio"
      ? `audio/${format}`
      : kind === "video"
        ? "video/mp4"
        : "application/octet-stream";
