import { expect, test } from "vitest";

import { mediaOf } from "./media.ts";

test("finds the address of pictures of OpenAI, Anthropic and LangChain's standard blocks", () => {
  const url = "data:image/png;base64,AA==";
  expect(mediaOf({ type: "image_url", image_url: { url } })?.url).toBe(url);
  const source = { type: "base64", media_type: "image/jpeg", data: "AA==" };
  expect(mediaOf({ type: "image", source })?.url).toBe("data:image/jpeg;base64,AA==");
  expect(mediaOf({ type: "image", source_type: "base64", mime_type: "image/png", data: "AA==" })?.url).toBe(url);
  expect(mediaOf({ type: "input_audio", input_audio: { data: "AA==", format: "mp3" } })?.url).toMatch(
    /^data:audio\/mp3/,
  );
});

test("a block without bytes or address is no picture", () => {
  expect(mediaOf({ type: "citation" })).toBeNull();
});
