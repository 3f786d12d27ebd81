import type { Schema } from "../from-schema.ts";

const text = { type: "string" };
const id = { type: "string", format: "uuid" };
const time = { type: "string", format: "date-time" };
const anything = { anyOf: [{ type: "object", additionalProperties: true }, text, { type: "array", items: true }] };

/** A run as LangSmith's clients send it (contract trace-platform, ingest). */
export const RUN_SCHEMA: Schema = {
  type: "object",
  properties: {
    id,
    trace_id: id,
    parent_run_id: { anyOf: [id, { type: "null" }] },
    dotted_order: text,
    name: text,
    run_type: { enum: ["chain", "llm", "tool", "retriever", "prompt", "embedding", "parser"] },
    start_time: { anyOf: [time, { type: "number" }] },
    end_time: { anyOf: [time, { type: "null" }] },
    inputs: anything,
    outputs: anything,
    error: { anyOf: [text, { type: "null" }] },
    extra: {
      type: "object",
      properties: {
        metadata: {
          type: "object",
          properties: {
            thread_id: text,
            ls_model_name: text,
            ls_provider: text,
            usage_metadata: {
              type: "object",
              properties: {
                input_tokens: { type: "integer" },
                output_tokens: { type: "integer" },
                total_tokens: { type: "integer" },
              },
            },
          },
          additionalProperties: true,
        },
        runtime: anything,
      },
    },
    events: { type: "array", items: { type: "object", properties: { name: text, time }, additionalProperties: true } },
    tags: { type: "array", items: text },
    session_name: text,
    session_id: id,
    reference_example_id: id,
    serialized: anything,
    attachments: anything,
  },
  required: ["id", "trace_id", "name", "run_type", "start_time"],
};

const attribute = {
  type: "object",
  properties: {
    key: {
      enum: ["gen_ai.system", "gen_ai.prompt", "langsmith.span.kind", "langsmith.metadata.a", "input.value", "a"],
    },
    value: {
      anyOf: [
        { type: "object", properties: { stringValue: text } },
        { type: "object", properties: { intValue: { type: ["integer", "string"] } } },
        { type: "object", properties: { doubleValue: { type: "number" } } },
        { type: "object", properties: { boolValue: { type: "boolean" } } },
        { type: "object", properties: { bytesValue: text } },
        {
          type: "object",
          properties: {
            arrayValue: {
              type: "object",
              properties: { values: { type: "array", items: { type: "object", properties: { stringValue: text } } } },
            },
          },
        },
        {
          type: "object",
          properties: {
            kvlistValue: {
              type: "object",
              properties: {
                values: { type: "array", items: { type: "object", properties: { key: text, value: true } } },
              },
            },
          },
        },
      ],
    },
  },
};
const hex = (length: number) => ({ type: "string", pattern: `^[0-9a-f]{${length}}$` });
const nanos = { type: "string", pattern: "^17[0-9]{17}$" };

/** ExportTraceServiceRequest in the JSON of OTLP. */
export const OTLP_SCHEMA: Schema = {
  type: "object",
  properties: {
    resourceSpans: {
      type: "array",
      items: {
        type: "object",
        properties: {
          resource: { type: "object", properties: { attributes: { type: "array", items: attribute } } },
          scopeSpans: {
            type: "array",
            items: {
              type: "object",
              properties: {
                scope: { type: "object", properties: { name: text, version: text } },
                spans: {
                  type: "array",
                  items: {
                    type: "object",
                    properties: {
                      traceId: hex(32),
                      spanId: hex(16),
                      parentSpanId: hex(16),
                      name: text,
                      kind: { type: "integer", minimum: 0, maximum: 5 },
                      startTimeUnixNano: nanos,
                      endTimeUnixNano: nanos,
                      attributes: { type: "array", items: attribute },
                      events: {
                        type: "array",
                        items: {
                          type: "object",
                          properties: {
                            timeUnixNano: nanos,
                            name: text,
                            attributes: { type: "array", items: attribute },
                          },
                        },
                      },
                      links: {
                        type: "array",
                        items: { type: "object", properties: { traceId: hex(32), spanId: hex(16) } },
                      },
                      status: { type: "object", properties: { code: { type: "integer" }, message: text } },
                    },
                    required: ["traceId", "spanId", "name", "startTimeUnixNano", "endTimeUnixNano"],
                  },
                },
              },
              required: ["spans"],
            },
          },
        },
        required: ["scopeSpans"],
      },
    },
  },
  required: ["resourceSpans"],
};

const integer = { type: "integer" };

/** JSON bodies that handlers read themselves, so that the document does not describe them. */
export const UNDECLARED_BODIES: Readonly<Record<string, Schema>> = {
  "POST /api/v1/runs": RUN_SCHEMA,
  "PATCH /api/v1/runs/{run_id}": RUN_SCHEMA,
  "POST /api/v1/runs/batch": {
    type: "object",
    properties: { post: { type: "array", items: RUN_SCHEMA }, patch: { type: "array", items: RUN_SCHEMA } },
  },
  "POST /otel/v1/traces": OTLP_SCHEMA,
  "POST /mcp/": {
    type: "object",
    properties: {
      jsonrpc: { enum: ["2.0"] },
      id: { anyOf: [integer, text, { type: "null" }] },
      method: {
        enum: ["initialize", "tools/list", "tools/call", "ping", "notifications/initialized", "resources/list"],
      },
      params: {
        type: "object",
        properties: {
          protocolVersion: text,
          capabilities: anything,
          clientInfo: anything,
          name: { enum: ["echo", "counter", "approval", "agent"] },
          arguments: { type: "object", additionalProperties: true },
        },
      },
    },
    required: ["jsonrpc", "method"],
  },
};
