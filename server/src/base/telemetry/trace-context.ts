/** W3C Trace Context, level 1: the position of a request in a trace that began elsewhere. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits: the sender's span. */
  spanId: string;
  isSampled: boolean;
}

const FORMAT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const ZEROS = /^0+$/;

/** Returns undefined for a header that the standard says to ignore. */
export function parseTraceparent(header: string | null | undefined): TraceContext | undefined {
  const [, version, traceId, spanId, flags, rest] = FORMAT.exec(header?.trim() ?? "") ?? [];
  if (version === undefined || version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (ZEROS.test(traceId!) || ZEROS.test(spanId!)) return undefined;
  return { traceId: traceId!, spanId: spanId!, isSampled: (Number.parseInt(flags!, 16) & 1) === 1 };
}

export const formatTraceparent = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;

export interface TraceHeaders {
  traceparent?: string;
  tracestate?: string;
}

const STATE = /^[\x20-\x7e]{1,512}$/;

/** Returns the headers that name a trace; none if they are missing or malformed. */
export function traceHeaders(sent: { traceparent?: unknown; tracestate?: unknown }): TraceHeaders {
  const { traceparent, tracestate } = sent;
  if (typeof traceparent !== "string" || parseTraceparent(traceparent) === undefined) return {};
  const hasState = typeof tracestate === "string" && STATE.test(tracestate);
  return { traceparent: traceparent.trim(), ...(hasState && { tracestate }) };
}
