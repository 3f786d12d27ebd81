import { Anchor, Stack, Text } from "@mantine/core";
import { lazy, Suspense } from "react";

import { LazyJson } from "../lazy-json.tsx";
import { readMedia } from "./media.ts";
import classes from "./messages.module.css";

const Markdown = lazy(async () => ({ default: (await import("./markdown.tsx")).Markdown }));

type Part = Record<string, unknown>;

/** Content of a message: text as Markdown, parts below each other, anything else as JSON. */
export function Content({ content, isPlain = false }: { content: unknown; isPlain?: boolean }) {
  if (typeof content === "string") return content === "" ? null : <TextPart text={content} isPlain={isPlain} />;
  if (content === null || content === undefined) return null;
  if (!Array.isArray(content)) return <LazyJson value={content} label="content" />;
  return (
    <Stack gap="xs">
      {content.map((part: unknown, index) => (
        <ContentPart key={index} part={part} isPlain={isPlain} />
      ))}
    </Stack>
  );
}

function ContentPart({ part, isPlain }: { part: unknown; isPlain: boolean }) {
  if (typeof part === "string") return <TextPart text={part} isPlain={isPlain} />;
  if (typeof part !== "object" || part === null) return <LazyJson value={part} label="content part" />;
  const fields = part as Part;
  const type = typeof fields["type"] === "string" ? fields["type"] : "";
  if (typeof fields["text"] === "string" && /text/.test(type))
    return <TextPart text={fields["text"]} isPlain={isPlain} />;
  const thought = fields["reasoning"] ?? fields["thinking"];
  if (typeof thought === "string") return <Reasoning text={thought} />;
  // tool calls are shown below the content
  if (/^(tool_use|tool_call|tool_call_chunk|input_json_delta|function_call)$/.test(type)) return null;
  const media = readMedia(fields);
  if (media) return <Media {...media} />;
  return <LazyJson value={part} label="content part" />;
}

function TextPart({ text, isPlain }: { text: string; isPlain: boolean }) {
  const plain = (
    <div className={`${classes.text} ${classes.plain}`} dir="auto">
      {text}
    </div>
  );
  if (isPlain || !/[*_`#[\]|>~\-\d]/.test(text)) return plain;
  return (
    <Suspense fallback={plain}>
      <div className={classes.text} dir="auto">
        <Markdown text={text} />
      </div>
    </Suspense>
  );
}

export function Reasoning({ text }: { text: string }) {
  return (
    <details className={classes.reasoning}>
      <summary>Reasoning</summary>
      <div className={`${classes.text} ${classes.plain}`}>{text}</div>
    </details>
  );
}

function Media({ url, type, name }: { url: string; type: string; name: string }) {
  const isOurs = /^(data|blob):/.test(url);
  if (isOurs && type.startsWith("image")) return <img className={classes.picture} src={url} alt={name} />;
  if (isOurs && type.startsWith("audio")) return <audio src={url} controls aria-label={name} />;
  if (isOurs && type.startsWith("video"))
    return <video className={classes.picture} src={url} controls aria-label={name} />;
  const label = isOurs ? `${name} (${type})` : url;
  return (
    <Text size="sm">
      <Anchor
        href={/^(data|blob|https?):/.test(url) ? url : undefined}
        target="_blank"
        rel="noopener noreferrer nofollow"
        download={isOurs ? name : undefined}
        style={{ overflowWrap: "anywhere" }}
      >
        {label}
      </Anchor>
    </Text>
  );
}
