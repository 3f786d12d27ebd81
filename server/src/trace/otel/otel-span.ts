/** Span, independent of the encoding. */
export interface OtelSpan {
  /** 32 and 16 hexadecimal digits. */
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  name: string;
  /** Microseconds since 1970; 0 when missing. */
  start: number;
  end: number;
  attributes: Attributes;
  events: { name: string; time: number; attributes: Attributes }[];
  isError: boolean;
  statusMessage: string;
  /** Attributes of the sender: `service.name` and so on. */
  resource: Attributes;
}

/** Values are text, numbers, booleans, lists and objects of these. */
export type Attributes = Record<string, unknown>;
