import { expect, test } from "vitest";

import { type BrowserPolicy, rejectPage } from "./browser-guard.ts";

const keyless: BrowserPolicy = {
  keyless: true,
  hosts: new Set(["devbox.example"]),
  allows: (origin) => origin === "https://app.example",
  isOpen: (path) => path === "/open",
};
const keyed: BrowserPolicy = { ...keyless, keyless: false };

const sent = (headers: Record<string, string | undefined>, policy = keyless, method = "POST", url = "/threads") =>
  rejectPage({ method, url, headers: { host: "localhost:2024", ...headers } }, policy);

test("allows programs, which send neither an origin nor fetch metadata of another site", () => {
  expect(sent({})).toBeUndefined();
  // Node.js' fetch sends the mode, but no site
  expect(sent({ "sec-fetch-mode": "cors" })).toBeUndefined();
  expect(sent({ "sec-fetch-site": "none", "sec-fetch-mode": "navigate" }, keyless, "GET")).toBeUndefined();
});

test("allows pages of the server itself and of allowed origins", () => {
  expect(sent({ origin: "http://localhost:2024", "sec-fetch-site": "same-origin" })).toBeUndefined();
  expect(sent({ origin: "https://app.example", "sec-fetch-site": "cross-site" })).toBeUndefined();
});

test.each([
  ["a request from another origin", { origin: "https://evil.example" }],
  ["another port of this machine", { origin: "http://localhost:9999", "sec-fetch-site": "same-site" }],
  ["a sandboxed page", { origin: "null" }],
  ["an image or script without an origin", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }],
  ["a frame", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" }],
  ["a script whose page is known", { "sec-fetch-site": "cross-site", referer: "https://evil.example/x" }],
])("rejects %s, with and without keys, and names the setting", (_, headers) => {
  for (const policy of [keyless, keyed]) {
    expect(sent(headers, policy, "GET")).toContain("HEDDLE_CORS_ORIGINS");
  }
});

test("allows a script of an allowed page by its referrer", () => {
  expect(sent({ "sec-fetch-site": "cross-site", referer: "https://app.example/" }, keyless, "GET")).toBeUndefined();
});

test("a link from another site opens a page, a form does not post to one", () => {
  const link = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
  expect(sent(link, keyless, "GET")).toBeUndefined();
  expect(sent(link, keyless, "POST")).toBeDefined();
});

test("allows every page on paths that contain their own credential", () => {
  expect(sent({ origin: "https://evil.example" }, keyed, "POST", "/open?score=1")).toBeUndefined();
  // the path that the router sees, however it is written
  expect(sent({ origin: "https://evil.example" }, keyed, "POST", "/x/../open")).toBeUndefined();
  for (const path of ["/open/../threads", "/open/%2e%2e/threads", "//open", "/threads?/open"])
    expect(sent({ origin: "https://evil.example" }, keyed, "POST", path)).toContain("https://evil.example");
});

test("a keyless server accepts only host names of this machine", () => {
  for (const host of [
    "localhost",
    "localhost:2024",
    "a.localhost:2024",
    "127.0.0.1:2024",
    "[::1]:2024",
    "[::ffff:127.0.0.1]:2024",
    "DevBox.example:80",
  ]) {
    expect([host, sent({ host })]).toEqual([host, undefined]);
  }
  // through a forwarder (a tunnel, a published port), unless other machines may reach the server
  for (const host of ["203.0.113.9", "10.0.0.7:2024", "[2001:4860::8888]"]) {
    expect([host, sent({ host })]).toEqual([host, expect.stringContaining("HEDDLE_ALLOWED_HOSTS")]);
    expect([host, sent({ host }, { ...keyless, anyAddress: true })]).toEqual([host, undefined]);
  }
  for (const host of ["evil.example", "localhost.evil.example:2024", "127.0.0.1.evil.example", ""]) {
    expect([host, sent({ host })]).toEqual([host, expect.stringContaining("HEDDLE_ALLOWED_HOSTS")]);
    expect([host, sent({ host }, keyed)]).toEqual([host, undefined]);
  }
});

test("a keyless server rejects requests that a proxy forwards from another machine", () => {
  for (const headers of [
    { "x-forwarded-for": "203.0.113.9" },
    { "x-forwarded-for": "127.0.0.1, 203.0.113.9" },
    { "x-real-ip": "203.0.113.9" },
    { forwarded: 'for="[2001:db8::1]:4711";proto=https' },
    { "x-forwarded-for": "unknown" },
    { forwarded: "proto=https;host=heddle.example" },
    { "x-forwarded-host": "heddle.example" },
    { "x-forwarded-host": "localhost:2026, heddle.example" },
    { "fly-client-ip": "203.0.113.9" },
    { "x-client-ip": "203.0.113.9" },
  ]) {
    expect([headers, sent(headers)]).toEqual([headers, expect.stringContaining("HEDDLE_AUTH=required")]);
    expect(sent(headers, keyed)).toBeUndefined();
  }
  for (const headers of [
    { "x-forwarded-for": "127.0.0.1, ::1" },
    { "x-forwarded-for": "::ffff:127.0.0.1" },
    { forwarded: "for=127.0.0.1:99" },
    { "x-forwarded-host": "localhost:2026", "x-forwarded-for": "127.0.0.1" },
  ]) {
    expect([headers, sent(headers)]).toEqual([headers, undefined]);
  }
});

test("passes on requests that another server checks, but not with a foreign host name", () => {
  const policy = { ...keyless, isPassedOn: () => true };
  expect(sent({ origin: "https://evil.example" }, policy)).toBeUndefined();
  expect(sent({ host: "evil.example" }, policy)).toBeDefined();
});
