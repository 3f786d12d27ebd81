import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { afterAll, beforeAll, expect, test } from "vitest";

import { issueFeedbackLinks } from "./issue-links.ts";

const RUN = "0195f0d0-0000-7000-8000-000000000001";
let answer: { status: number; text: string };
const requests: { url: string; key: string | undefined; body: unknown }[] = [];
// a foreign platform
const platform = createServer((request, response) => {
  let text = "";
  request.on("data", (chunk: Buffer) => (text += chunk.toString()));
  request.on("end", () => {
    requests.push({ url: request.url!, key: request.headers["x-api-key"] as string, body: JSON.parse(text) });
    response.statusCode = answer.status;
    response.end(answer.text);
  });
});
let url: string;
beforeAll(async () => {
  platform.listen(0, "127.0.0.1");
  await once(platform, "listening");
  url = `http://127.0.0.1:${(platform.address() as AddressInfo).port}`;
});
afterAll(() => {
  platform.closeAllConnections();
  platform.close();
});

const issue = (keys = ["a", "b"]) => issueFeedbackLinks(() => ({ state: "on", url, key: "k" }), RUN, keys, 90);

test("requests all keys in one call, in the format of LangSmith's API", async () => {
  const tokens = ["a", "b"].map((key) => ({
    id: RUN,
    url: `https://t/${key}`,
    expires_at: "2030-01-01T00:00:00Z",
    feedback_key: key,
  }));
  answer = { status: 200, text: JSON.stringify(tokens) };
  expect(await issue()).toEqual({ a: "https://t/a", b: "https://t/b" });
  const expires_in = { days: 0, hours: 1, minutes: 30 };
  expect(requests.at(-1)).toEqual({
    url: "/feedback/tokens",
    key: "k",
    body: ["a", "b"].map((feedback_key) => ({ run_id: RUN, feedback_key, expires_in })),
  });
});

test.each([
  [401, "no", 422, /feedback:create/],
  [403, "no", 422, /feedback:create/],
  [422, "feedback_key: too long", 422, /too long/],
  [429, "slow down", 503, /429/],
  [500, "oops", 503, /500/],
  [200, "<html>", 502, /returned an invalid response/],
  [200, "[]", 502, /returned an invalid response/],
  [200, '[{"url":"javascript"},{"url":1}]', 502, /returned an invalid response/],
])("rejects the run when the platform answers %i %s, with %i", async (status, text, rejected, message) => {
  answer = { status, text };
  await expect(issue()).rejects.toMatchObject({ status: rejected, message: expect.stringMatching(message) as string });
});

test("issues no links without a platform, and rejects the run before the platform is available", async () => {
  const to = (state: "off" | "waiting") => issueFeedbackLinks(() => ({ state }), RUN, ["a"], 60, 50);
  expect(await to("off")).toBeUndefined();
  await expect(to("waiting")).rejects.toMatchObject({ status: 503 });
  await expect(
    issueFeedbackLinks(() => ({ state: "on", url: "http://127.0.0.1:1", key: null }), RUN, ["a"], 60),
  ).rejects.toMatchObject({ status: 503 });
});

test("waits for a platform that starts meanwhile", async () => {
  answer = { status: 200, text: JSON.stringify([{ url: "https://t/a" }]) };
  const upAt = Date.now() + 150;
  const to = () => (Date.now() < upAt ? { state: "waiting" as const } : { state: "on" as const, url, key: null });
  expect(await issueFeedbackLinks(to, RUN, ["a"], 60)).toEqual({ a: "https://t/a" });
});
