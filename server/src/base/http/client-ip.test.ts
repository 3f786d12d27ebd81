import { Hono } from "hono";
import { expect, test } from "vitest";

import { ConfigError, readOptions } from "../config/options.ts";
import { clientIp, clientIpOptions, findClientIp, toNetwork, normalizeAddress } from "./client-ip.ts";

/** Returns the client address that a server determines for a request from `peer`. */
async function seen(peer: string, headers: Record<string, string>, env: Record<string, string> = {}): Promise<string> {
  const app = new Hono();
  app.use(
    findClientIp(readOptions(clientIpOptions, { HEDDLE_TRUSTED_PROXIES: "10.0.0.0/8, 2001:db8:f::/48", ...env })),
  );
  app.get("/", (c) => c.text(clientIp(c)));
  const incoming = {
    socket: { remoteAddress: peer, remotePort: 1, remoteFamily: peer.includes(":") ? "IPv6" : "IPv4" },
  };
  return (await app.request("/", { headers }, { incoming })).text();
}
const forwarded = (value: string) => ({ "X-Forwarded-For": value });

test("ignores the header without trusted proxies", async () => {
  expect(await seen("10.0.0.1", forwarded("203.0.113.9"), { HEDDLE_TRUSTED_PROXIES: "" })).toBe("10.0.0.1");
});

test("ignores a header from an untrusted peer", async () => {
  expect(await seen("198.51.100.1", forwarded("203.0.113.9"))).toBe("198.51.100.1");
});

test("uses the address from a trusted proxy, and ignores entries that the client wrote before it", async () => {
  expect(await seen("10.0.0.1", forwarded("203.0.113.9"))).toBe("203.0.113.9");
  expect(await seen("10.0.0.1", forwarded("1.1.1.1, 10.9.9.9, 203.0.113.9"))).toBe("203.0.113.9");
  expect(await seen("10.0.0.1", forwarded("127.0.0.1, 203.0.113.9, 10.0.0.2"))).toBe("203.0.113.9");
});

test("uses the first address when all are trusted", async () => {
  expect(await seen("10.0.0.1", forwarded("10.1.1.1, 10.0.0.2"))).toBe("10.1.1.1");
});

test("stops at an entry that is not an address, and uses the last valid one", async () => {
  expect(await seen("10.0.0.1", forwarded("203.0.113.9, unknown"))).toBe("10.0.0.1");
  expect(await seen("10.0.0.1", forwarded("203.0.113.9, <script>, 10.0.0.2"))).toBe("10.0.0.2");
  expect(await seen("10.0.0.1", forwarded(""))).toBe("10.0.0.1");
  expect(await seen("10.0.0.1", forwarded(",,,"))).toBe("10.0.0.1");
  expect(await seen("10.0.0.1", forwarded("010.0.0.1"))).toBe("10.0.0.1");
});

test("parses ports, brackets, zones and IPv4 in IPv6", async () => {
  expect(await seen("10.0.0.1", forwarded("203.0.113.9:4711"))).toBe("203.0.113.9");
  expect(await seen("10.0.0.1", forwarded("[2001:DB8:0:1::5]:443"))).toBe("2001:db8:0:1::5");
  expect(await seen("::ffff:10.0.0.1", forwarded("::ffff:203.0.113.9"))).toBe("203.0.113.9");
  expect(await seen("2001:db8:f::1", forwarded("2001:db8:e::1"))).toBe("2001:db8:e::1");
  expect(await seen("fe80::1%eth0", {})).toBe("fe80::1");
});

test("uses the hop that the proxy added, however many hops the client invents", async () => {
  for (const repeats of [31, 32, 33, 999, 1000, 1001, 8000]) {
    const header = `${"6.6.6.6,".repeat(repeats)}203.0.113.9`;
    expect(await seen("10.0.0.1", forwarded(header)), `${repeats}`).toBe("203.0.113.9");
    const elements = `${"for=6.6.6.6,".repeat(repeats)}for=203.0.113.9`;
    const env = { HEDDLE_FORWARDED_HEADER: "forwarded" };
    expect(await seen("10.0.0.1", { Forwarded: elements }, env), `${repeats}`).toBe("203.0.113.9");
  }
});

test("limits how far it follows a long chain", async () => {
  const chain = ["203.0.113.9", ...Array.from({ length: 5000 }, () => "10.0.0.3")].join(", ");
  expect(await seen("10.0.0.1", forwarded(chain))).toBe("10.0.0.3");
});

test("reads Forwarded instead of X-Forwarded-For when configured", async () => {
  const env = { HEDDLE_FORWARDED_HEADER: "forwarded" };
  const header = { Forwarded: 'for=1.1.1.1, by=10.0.0.9;For="[2001:db8:e::7]:80";proto=https' };
  expect(await seen("10.0.0.1", { ...header, ...forwarded("9.9.9.9") }, env)).toBe("2001:db8:e::7");
  expect(await seen("10.0.0.1", { Forwarded: "for=_hidden, for=10.0.0.2" }, env)).toBe("10.0.0.2");
  expect(await seen("10.0.0.1", { Forwarded: "for=9.9.9.9" })).toBe("10.0.0.1");
});

test("an invalid block prevents the start, and the error names it", () => {
  for (const bad of ["10.0.0.0/33", "nginx", "10.0.0.0/8/8", "::/129", "10.0.0.0/"]) {
    expect(() => readOptions(clientIpOptions, { HEDDLE_TRUSTED_PROXIES: `192.0.2.1,${bad}` })).toThrow(ConfigError);
    expect(() => readOptions(clientIpOptions, { HEDDLE_TRUSTED_PROXIES: `192.0.2.1,${bad}` })).toThrow(bad);
  }
});

test("normalizes addresses, and counts IPv6 by /64", () => {
  expect(normalizeAddress("::FFFF:c000:0201")).toBe("192.0.2.1");
  expect(normalizeAddress("2001:0DB8:0:0:0:0:0:1")).toBe("2001:db8::1");
  expect(normalizeAddress("0x7f.1")).toBeUndefined();
  expect(toNetwork("192.0.2.1")).toBe("192.0.2.1");
  expect(toNetwork("2001:db8:0:1:aaaa::1")).toBe(toNetwork("2001:db8:0:1::2"));
  expect(toNetwork("2001:db8:0:1::1")).not.toBe(toNetwork("2001:db8:0:2::1"));
});
