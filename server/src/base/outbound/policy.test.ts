import { expect, test } from "vitest";

import { addressKind, parseAddress } from "./address-kind.ts";
import { checkUrl } from "./check-url.ts";
import { OutboundError } from "./outbound-error.ts";
import { judgeAddress, narrowAllowances, readPolicy } from "./policy.ts";

const closed = readPolicy("", false);
const open = readPolicy("", true);

const rejectionReason = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof OutboundError) return `${error.reason} ${error.status}`;
    throw error;
  }
  return "allowed";
};

test.each([
  ["8.8.8.8", "public"],
  ["2606:4700::1111", "public"],
  ["127.0.0.1", "loopback"],
  ["127.255.255.254", "loopback"],
  ["::1", "loopback"],
  ["10.0.0.1", "private"],
  ["172.16.0.1", "private"],
  ["172.31.255.255", "private"],
  ["192.168.1.1", "private"],
  ["100.64.0.1", "private"],
  ["fd12:3456::1", "private"],
  ["169.254.1.1", "link-local"],
  ["fe80::1%eth0", "link-local"],
  ["169.254.169.254", "metadata"],
  ["169.254.170.2", "metadata"],
  ["fd00:ec2::254", "metadata"],
  ["100.100.100.200", "metadata"],
  ["168.63.129.16", "metadata"],
  ["0.0.0.0", "special"],
  ["0.1.2.3", "special"],
  ["::", "special"],
  ["224.0.0.1", "special"],
  ["ff02::1", "special"],
  ["255.255.255.255", "special"],
  ["240.0.0.1", "special"],
  ["192.0.2.1", "special"],
  ["198.18.0.1", "special"],
  // embedded IPv4
  ["::ffff:127.0.0.1", "loopback"],
  ["::ffff:7f00:1", "loopback"],
  ["::ffff:169.254.169.254", "metadata"],
  ["::ffff:8.8.8.8", "public"],
  ["64:ff9b::127.0.0.1", "loopback"],
  ["64:ff9b::a9fe:a9fe", "metadata"],
  ["64:ff9b::8.8.8.8", "public"],
  ["64:ff9b:1::7f00:1", "special"],
  ["::7f00:1", "special"],
  ["::ffff:0:127.0.0.1", "special"],
  ["2002:7f00:1::", "special"],
  ["2001:0:4136:e378:8000:63bf:3fff:fdd2", "special"],
  ["fec0::1", "special"],
  ["2001:db8::1", "special"],
])("%s is %s", (text, kind) => {
  expect(addressKind(parseAddress(text)!)).toBe(kind);
});

test.each([
  "http://127.0.0.1/",
  "http://127.1/",
  "http://0x7f.0.0.1/",
  "http://0x7f000001/",
  "http://2130706433/",
  "http://0177.0.0.1/",
  "http://017700000001/",
  "http://127.0.0.1./",
  "http://１２７.0.0.1/",
  "http://0/",
  "http://[::1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[64:ff9b::7f00:1]/",
  "http://localhost/",
  "http://LOCALHOST./",
  "http://a.localhost/",
  "http://10.0.0.1:9000/",
  "http://169.254.169.254/latest/meta-data/",
  "http://[fd00:ec2::254]/",
  "http://metadata.google.internal/computeMetadata/v1/",
  "http://100.64.0.1/",
  "http://224.0.0.1/",
])("blocks %s before connecting", (url) => {
  expect(rejectionReason(() => checkUrl(closed, url))).toBe("blocked 422");
});

test.each([
  "file:///etc/passwd",
  "gopher://127.0.0.1/",
  "ftp://example.com/",
  "/relative",
  "http://",
  "http://user:password@example.com/",
  "http://user@example.com/",
  "http://example.com:0/",
  "http://example.com:70000/",
])("rejects the URL %s", (url) => {
  expect(rejectionReason(() => checkUrl(closed, url))).toBe("bad_url 422");
});

test("rejects a URL beyond 64 KiB", () => {
  expect(rejectionReason(() => checkUrl(closed, `http://example.com/${"x".repeat(66_000)}`))).toBe("bad_url 422");
  expect(rejectionReason(() => checkUrl(closed, `http://example.com/${"x".repeat(60_000)}`))).toBe("allowed");
});

test("a rejection names the host and how to allow it, without the URL's path and query", () => {
  expect(() => checkUrl(closed, "http://localhost:9000/x?token=s3cret")).toThrow(
    /^localhost leads to a loopback address\. The operator can allow it: HEDDLE_OUTBOUND_ALLOW=localhost:9000$/,
  );
});

test("allows public addresses and names", () => {
  for (const url of ["https://example.com/hook?token=x", "http://8.8.8.8:8080/", "https://[2606:4700::1111]/"]) {
    expect(rejectionReason(() => checkUrl(closed, url))).toBe("allowed");
  }
});

test("open loopback allows loopback on any port, and nothing else", () => {
  expect(rejectionReason(() => checkUrl(open, "http://localhost:3000/"))).toBe("allowed");
  expect(rejectionReason(() => checkUrl(open, "http://[::1]:1/"))).toBe("allowed");
  expect(rejectionReason(() => checkUrl(open, "http://10.0.0.1/"))).toBe("blocked 422");
  expect(rejectionReason(() => checkUrl(open, "http://169.254.169.254/"))).toBe("blocked 422");
});

const judged = (allow: string, address: string, host: string, port: number): boolean =>
  judgeAddress(readPolicy(allow, false), address, host, port).allowed;

test.each([
  // allow, address, host, port, outcome
  ["minio.internal", "10.1.1.1", "minio.internal", 9000, true],
  ["minio.internal", "10.1.1.1", "MINIO.internal.", 9000, true],
  ["minio.internal:9000", "10.1.1.1", "minio.internal", 9000, true],
  ["minio.internal:9000", "10.1.1.1", "minio.internal", 22, false],
  ["minio.internal", "10.1.1.1", "evil-minio.internal", 9000, false],
  ["*.corp.example", "10.1.1.1", "a.b.corp.example", 80, true],
  ["*.corp.example", "10.1.1.1", "corp.example", 80, false],
  ["*.corp.example", "10.1.1.1", "evilcorp.example", 80, false],
  // control of the name's DNS gives no access to metadata
  ["minio.internal", "169.254.169.254", "minio.internal", 80, false],
  ["minio.internal", "169.254.3.3", "minio.internal", 80, false],
  ["minio.internal", "0.0.0.0", "minio.internal", 80, false],
  ["localhost", "127.0.0.1", "localhost", 5000, true],
  ["10.0.0.0/8", "10.200.0.1", "any.example", 80, true],
  ["10.0.0.0/8", "11.0.0.1", "any.example", 80, true],
  ["10.0.0.0/8", "172.16.0.1", "any.example", 80, false],
  ["10.0.0.5:9000", "10.0.0.5", "10.0.0.5", 9000, true],
  ["10.0.0.5:9000", "10.0.0.5", "10.0.0.5", 9001, false],
  ["[fd00::5]:9000", "fd00::5", "fd00::5", 9000, true],
  ["fd00::/8", "fd00:1::1", "x.example", 80, true],
  ["fd00::/8", "fd00:ec2::254", "x.example", 80, false],
  ["169.254.0.0/16", "169.254.7.7", "x.example", 80, true],
  ["169.254.0.0/16", "169.254.169.254", "x.example", 80, false],
  ["169.254.169.254", "169.254.169.254", "x.example", 80, true],
  ["0.0.0.0/0", "169.254.169.254", "x.example", 80, false],
  ["127.0.0.0/8", "::ffff:127.0.0.1", "x.example", 80, true],
])("allowing %s, %s of %s:%i is %s", (allow, address, host, port, outcome) => {
  expect(judged(allow, address, host, port)).toBe(outcome);
});

test.each([
  "http://x",
  "a:b",
  "a:99999",
  "10.0.0.0/33",
  "fd00::/200",
  "10.0.0.0/",
  "*.",
  "*",
  "0x7f.1",
  "127.1",
  "a b,-c",
])("rejects the setting %s by name", (allow) => {
  expect(() => readPolicy(allow, false)).toThrow(/HEDDLE_OUTBOUND_ALLOW: "/);
});

test.each([
  ["10.0.0.0/8", "10.1.0.0/16", true],
  ["10.0.0.0/8", "10.1.2.3:443", true],
  ["10.0.0.0/8", "10.0.0.0/7", false],
  ["10.0.0.0/8", "11.0.0.1", false],
  ["10.0.0.0/8", "fd00::1", false],
  ["10.0.0.1:443", "10.0.0.1:443", true],
  ["10.0.0.1:443", "10.0.0.1", false],
  ["10.0.0.1:443", "10.0.0.1:80", false],
  ["hooks.example", "HOOKS.example:8443", true],
  ["hooks.example:8443", "hooks.example", false],
  ["hooks.example", "x.hooks.example", false],
  ["*.svc.example", "a.svc.example", true],
  ["*.svc.example", "*.b.svc.example", true],
  ["*.svc.example", "svc.example", false],
  ["*.b.svc.example", "*.svc.example", false],
  ["*.svc.example", "asvc.example", false],
  // a name permits whatever private address it resolves to
  ["10.0.0.0/8", "hooks.example", false],
  ["hooks.example", "10.0.0.1", false],
  // metadata services only by their own address
  ["169.254.0.0/16", "169.254.169.254", false],
  ["169.254.0.0/16", "169.254.169.254/31", false],
  ["169.254.169.254", "169.254.169.254", true],
  ["", "10.0.0.1", false],
])("a platform that allows %j lets a deployment name %j: %s", (platforms, wanted, isKept) => {
  const { kept, rejected } = narrowAllowances(platforms, wanted);
  expect([kept, rejected]).toEqual(isKept ? [[wanted], []] : [[], [wanted]]);
});

test("allowances are narrowed entry by entry, and an invalid one is an error", () => {
  const platforms = "10.0.0.0/8, *.svc.example";
  expect(narrowAllowances(platforms, "10.0.0.1, evil.example a.svc.example")).toEqual({
    kept: ["10.0.0.1", "a.svc.example"],
    rejected: ["evil.example"],
  });
  expect(narrowAllowances(platforms, "")).toEqual({ kept: [], rejected: [] });
  expect(() => narrowAllowances(platforms, "10.0.0.1/99")).toThrow("HEDDLE_OUTBOUND_ALLOW");
});
