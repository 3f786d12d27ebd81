import { choice, ConfigError, integer, type OptionSpec, text } from "../config/options.ts";

/** Reads `name=value` pairs separated by commas, percent-encoded, as the OpenTelemetry specification has them. */
function pairs(spec: { env: string[]; description: string; secret?: boolean }): OptionSpec<Record<string, string>> {
  return {
    ...spec,
    default: {},
    parse(value) {
      const found: Record<string, string> = {};
      for (const pair of value.split(",").filter((part) => part.trim() !== "")) {
        const at = pair.indexOf("=");
        if (at <= 0) throw new ConfigError("must be name=value pairs, separated by commas");
        try {
          found[pair.slice(0, at).trim()] = decodeURIComponent(pair.slice(at + 1).trim());
        } catch {
          throw new ConfigError("must be percent-encoded");
        }
      }
      return found;
    },
  };
}

function httpUrl(spec: { env: string[]; description: string }): OptionSpec<string | undefined> {
  return {
    ...spec,
    default: undefined,
    parse(value) {
      if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) {
        throw new ConfigError(`must be an http or https URL, not "${value}"`);
      }
      return value;
    },
  };
}

/** Export of Heddle's own spans, by the standard variables of OpenTelemetry. */
export const telemetryOptions = {
  otlpEndpoint: httpUrl({
    env: ["OTEL_EXPORTER_OTLP_ENDPOINT"],
    description:
      "OTLP/HTTP endpoint that gets Heddle's own spans (requests, queue wait, runs), below /v1/traces. Default: none.",
  }),
  otlpTracesEndpoint: httpUrl({
    env: ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"],
    description: "The same as a complete URL; takes precedence.",
  }),
  otlpHeaders: pairs({
    env: ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"],
    description: "Headers for that endpoint, such as its key: name=value pairs, separated by commas.",
    secret: true,
  }),
  otlpProtocol: choice({
    env: ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"],
    default: "http/json",
    of: ["http/json", "http/protobuf", "grpc"],
    description: "Spans are sent as JSON over HTTP, which every OTLP/HTTP endpoint accepts; grpc is rejected.",
  }),
  otlpTimeoutMs: integer({
    env: ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"],
    default: 10_000,
    min: 1,
    description: "Time limit of one delivery of spans, in milliseconds.",
  }),
  otelServiceName: text({
    env: ["OTEL_SERVICE_NAME"],
    default: undefined,
    description: "Service name of the spans. Default: heddle-agent, heddle-trace or heddle-control.",
  }),
  otelResourceAttributes: pairs({
    env: ["OTEL_RESOURCE_ATTRIBUTES"],
    description: "Resource attributes of the spans: name=value pairs, separated by commas.",
  }),
  otelSampler: choice({
    env: ["OTEL_TRACES_SAMPLER"],
    default: "parentbased_always_on",
    of: [
      "always_on",
      "always_off",
      "traceidratio",
      "parentbased_always_on",
      "parentbased_always_off",
      "parentbased_traceidratio",
    ],
    description: "Sampler of the spans.",
  }),
  otelSamplerArg: {
    env: ["OTEL_TRACES_SAMPLER_ARG"],
    default: 1,
    description: "Share of the traces that a sampler with traceidratio keeps, from 0 to 1.",
    parse(value: string) {
      const ratio = Number(value);
      if (!(ratio >= 0 && ratio <= 1)) throw new ConfigError(`must be a number from 0 to 1, not "${value}"`);
      return ratio;
    },
  } satisfies OptionSpec<number>,
};
