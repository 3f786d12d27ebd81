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
  /** As OTLP numbers them: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number;
  links: { traceId: string; spanId: string; traceState: string; attributes: Attributes }[];
  traceState: string;
  /** Counts of attributes, events and links that the sender left out. */
  dropped: Attributes;
  scope: { name: string; version: string; attributes: Attributes };
  events: { name: string; time: number; attributes: Attributes }[];
  isError: boolean;
  statusMessage: string;
  /** Attributes of the sender: `service.name` and so on. */
  resource: Attributes;
}

/** Values are text, numbers, booleans, lists and objects of these. */
export type Attributes = Record<string, unknown>;
