import { expect, test } from "vitest";

import { readMedia } from "./media.ts";

test("finds the URL of images in OpenAI's, Anthropic's and LangChain's standard blocks", () => {
  const url = "data:image/png;base64,AA==";
  expect(readMedia({ type: "image_url", image_url: { url } })?.url).toBe(url);
  const source = { type: "base64", media_type: "image/jpeg", data: "AA==" };
  expect(readMedia({ type: "image", source })?.url).toBe("data:image/jpeg;base64,AA==");
  expect(readMedia({ type: "image", source_type: "base64", mime_type: "image/png", data: "AA==" })?.url).toBe(url);
  expect(readMedia({ type: "input_audio", input_audio: { data: "AA==", format: "mp3" } })?.url).toMatch(
    /^data:audio\/mp3/,
  );
});

test("a data URL's own type decides how it is shown", () => {
  const url = (type: string) => `data:${type};base64,AA==`;
  expect(readMedia({ type: "file", file: { file_data: url("audio/wav"), filename: "call.wav" } })).toMatchObject({
    type: "audio/wav",
    name: "call.wav",
  });
  expect(readMedia({ type: "video", data: "AA==" })?.url).toBe(url("video/mp4"));
  expect(readMedia({ type: "image_url", image_url: { url: url("image/webp") } })?.type).toBe("image/webp");
});

test("a block without bytes or address is no picture", () => {
  expect(readMedia({ type: "citation" })).toBeNull();
});
