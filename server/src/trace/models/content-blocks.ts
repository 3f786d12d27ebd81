import type { ContentBlock } from "./message-schema.ts";

export type MediaBlock = Exclude<ContentBlock, { type: "text" }>;

/** Converts an image or a file to a block of LangChain's messages; a text says why the provider cannot be sent it. */
export type ToBlock = (block: MediaBlock) => object | string;

const NO_AUDIO = "this provider's client sends no audio";

/** LangChain's standard blocks, as most of its packages take them. */
export const standardBlock: ToBlock = (block) => {
  const { type, mime_type, detail } = block;
  const ofImage = detail !== undefined && { detail };
  if ("url" in block) {
    const known = { ...(mime_type !== undefined && { mime_type }), ...(ofImage && { metadata: ofImage }) };
    return { type, source_type: "url", url: block.url, ...known };
  }
  // OpenAI requires the name of a file
  const name = block.filename ?? "file";
  return { type, source_type: "base64", mime_type, data: block.data, metadata: { filename: name, name, ...ofImage } };
};

export const standardBlockWithoutAudio: ToBlock = (block) => (block.type === "audio" ? NO_AUDIO : standardBlock(block));

const dataUrl = (block: MediaBlock): string =>
  "url" in block ? block.url : `data:${block.mime_type};base64,${block.data}`;

/** Images as `image_url`, for packages that take no other blocks. */
export const imageUrlBlock: ToBlock = (block) =>
  block.type === "image"
    ? {
        type: "image_url",
        image_url: block.detail === undefined ? dataUrl(block) : { url: dataUrl(block), detail: block.detail },
      }
    : "this provider's client sends images only";

/** The client of OpenAI's responses API converts files of the standard form, and images of this one. */
export const responsesBlock: ToBlock = (block) =>
  block.type === "image" ? imageUrlBlock(block) : standardBlockWithoutAudio(block);

/** Ollama fetches no URLs. */
export const ollamaBlock: ToBlock = (block) =>
  "url" in block ? "Ollama fetches no images; send the image as base64 data" : imageUrlBlock(block);

/** Anthropic's package sends standard blocks of the older form twice, so these have the newer one. */
export const anthropicBlock: ToBlock = (block) => {
  const { type, mime_type } = block;
  if (type === "audio") return NO_AUDIO;
  if ("url" in block) return { type, url: block.url };
  if (type === "file" && mime_type?.startsWith("text/")) {
    const data = Buffer.from(block.data, "base64").toString();
    return { type: "document", source: { type: "text", media_type: "text/plain", data } };
  }
  return { type, data: block.data, mimeType: mime_type };
};
