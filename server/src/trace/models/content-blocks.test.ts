import { expect, test } from "vitest";

import { imageUrlBlock, type MediaBlock, responsesBlock, standardBlock } from "./content-blocks.ts";
import { contentBlock } from "./message-schema.ts";

test("the detail of an image reaches the model", () => {
  const read = (image_url: object) => contentBlock.parse({ type: "image_url", image_url }) as MediaBlock;
  const byUrl = read({ url: "https://example.com/a.png", detail: "low" });
  const byData = read({ url: "data:image/png;base64,AA==", detail: "high" });
  expect(standardBlock(byUrl)).toMatchObject({ url: "https://example.com/a.png", metadata: { detail: "low" } });
  expect(standardBlock(byData)).toMatchObject({ data: "AA==", metadata: { detail: "high" } });
  expect(responsesBlock(byUrl)).toEqual({
    type: "image_url",
    image_url: { url: "https://example.com/a.png", detail: "low" },
  });
  expect(imageUrlBlock(byData)).toEqual({
    type: "image_url",
    image_url: { url: "data:image/png;base64,AA==", detail: "high" },
  });
  expect(imageUrlBlock(read({ url: "https://example.com/a.png" }))).toEqual({
    type: "image_url",
    image_url: "https://example.com/a.png",
  });
});
