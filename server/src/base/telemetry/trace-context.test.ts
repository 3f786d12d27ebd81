import { expect, test } from "vitest";

import { formatTraceparent, parseTraceparent, traceHeaders } from "./trace-context.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

test("reads what it writes, and versions of the future", () => {
  const context = { traceId: TRACE, spanId: SPAN, isSampled: true };
  expect(parseTraceparent(formatTraceparent(context))).toEqual(context);
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-00`)?.isSampled).toBe(false);
  expect(parseTraceparent(`cc-${TRACE}-${SPAN}-01-more`)).toEqual(context);
});

test.each([
  ["nothing", ""],
  ["a trace id of zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
  ["a span id of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
  ["the forbidden version", `ff-${TRACE}-${SPAN}-01`],
  ["more fields than its version has", `00-${TRACE}-${SPAN}-01-more`],
  ["capital letters", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ["a short id", `00-${TRACE.slice(1)}-${SPAN}-01`],
])("ignores %s", (_, header) => {
  expect(parseTraceparent(header)).toBeUndefined();
  expect(traceHeaders({ traceparent: header, tracestate: "a=b" })).toEqual({});
});

test("keeps a tracestate of up to 512 characters beside a valid traceparent", () => {
  const traceparent = `00-${TRACE}-${SPAN}-01`;
  expect(traceHeaders({ traceparent, tracestate: "a=b" })).toEqual({ traceparent, tracestate: "a=b" });
  for (const tracestate of [`a=${"b".repeat(511)}`, "a=\nb", null, 7]) {
    expect(traceHeaders({ traceparent, tracestate })).toEqual({ traceparent });
  }
});
