import { integer } from "../../base/config/options.ts";

export const otelOptions = {
  otlpGrpcPort: integer({
    env: ["HEDDLE_OTLP_GRPC_PORT"],
    default: 0,
    max: 65_535,
    description:
      "Port for OpenTelemetry traces over gRPC, in cleartext, beside those over HTTP; usually 4317. Keys are sent as " +
      "metadata. 0: none.",
  }),
};
