import { expect, test } from "vitest";

import { openEax } from "./official-aes.ts";

/** Key, what the serializer of langgraph-checkpoint 4.3.2 with pycryptodome wrote, and the value as MessagePack. */
const WRITTEN: [string, string, string][] = [
  ["0123456789abcdef", "2a3682effdbd4a01c54a568828909baaed9fdebcd11d292128662f4d6af6a32c1a", "a0"],
  [
    "0123456789abcdef",
    "e948cce9aed52e23e21073c88093067132419d1afe95736498510924db6c55790249cb68e28b57f6",
    "a7706c616e746564",
  ],
  [
    "0123456789abcdef",
    "ee74b35c4417e3cef243afce382040dfd5c2e036f4ca8724348fb234704f1b3a3e60041942b25775440c714cd05a09",
    "ae7878787878787878787878787878",
  ],
  [
    "0123456789abcdef",
    "97c840d9fdf25dd91613d1146a697fc860eb7ad4595d751eb0b7c0bb0a9af321e09bdbd65613fc7d31fa4837640d6c43dd9853553c74512761c4ab7d254e30f209d442b763cd906ddf9eff",
    "dc0028000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021222324252627",
  ],
  ["0123456789abcdef01234567", "1552c36f14405c751e9fc6965eddea4db9266e9e4ee03267167debd63064c355e6", "a0"],
  [
    "0123456789abcdef01234567",
    "926886bcf61595c39e5831b54e38b947e5c8e0af9d89cf3634abacbcf40a1e6522f2608d94aca245",
    "a7706c616e746564",
  ],
  [
    "0123456789abcdef01234567",
    "f0f991ed25a675b92df5703e7ba53d68641f8e822e720bc14a60c1300cf2837d774301d504d6c87f31189a0c02cd7a",
    "ae7878787878787878787878787878",
  ],
  [
    "0123456789abcdef01234567",
    "d80bd2585cc8ffc0a9104be2744916b7eea920ff646af6513e8a2ff8898c9fcb751d646612fc55174298a7e744c85a3d2506b05b4dbffa83e250428d9f5ed2719d5a55f721465038f7570b",
    "dc0028000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021222324252627",
  ],
  ["0123456789abcdef0123456789abcdef", "e630ead3c18254bca843aaed280d22393ec313779972098e2795303111a236cb36", "a0"],
  [
    "0123456789abcdef0123456789abcdef",
    "262ef45d4ca8cdf2296bf64b2be36207056121948fa6d356fbacec54b54e1402f229b9305a9dcf39",
    "a7706c616e746564",
  ],
  [
    "0123456789abcdef0123456789abcdef",
    "2ec9726f4d75a4ab7f94824cd1f763edebfdb63212f80ff4ad2fe3230dd9ce5ac63d20df9e7f6783cc5f61c6c497bc",
    "ae7878787878787878787878787878",
  ],
  [
    "0123456789abcdef0123456789abcdef",
    "ff498b430fc3c0b7f85e55b79948b0f441e90e7982f688626e4d3b7406d8512f1efc87a4379280f122ca0bb533107c39481912f61cdf5c6efe19a690f34d83d79d05a417b2be46e8d986b2",
    "dc0028000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021222324252627",
  ],
];

test.each(WRITTEN)("reads what LangGraph's serializer encrypted: %s %s", (key, written, value) => {
  const keys = [Buffer.from("another-key-0000"), Buffer.from(key)];
  expect(openEax(keys, Buffer.from(written, "hex"))?.toString("hex")).toBe(value);
});

test("an altered value or another key is noticed", () => {
  const [key, written] = WRITTEN.at(-1)!;
  for (const at of [0, 16, 32]) {
    const altered = Buffer.from(written, "hex");
    altered[at]! ^= 1;
    expect(openEax([Buffer.from(key)], altered)).toBeUndefined();
  }
  expect(openEax([Buffer.from("another-key-0000")], Buffer.from(written, "hex"))).toBeUndefined();
  expect(openEax([Buffer.from(key)], Buffer.alloc(20))).toBeUndefined();
});
