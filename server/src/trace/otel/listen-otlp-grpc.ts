import type { ConnectionSettings } from "../../base/http/connection-limits.ts";
import type { ClientIpSettings } from "../../base/http/client-ip.ts";
import { type GrpcOptions, type GrpcServer, listenGrpc } from "../../base/http/grpc-server.ts";
import type { Log } from "../../base/log.ts";

/** Listens for OTLP over gRPC. A call is answered by the route of OTLP over HTTP (routes.ts). */
export function listenOtlpGrpc(options: {
  host: string;
  port: number;
  settings: ConnectionSettings & Pick<ClientIpSettings, "trustedProxies">;
  log: Log;
  fetch: GrpcOptions["fetch"];
}): Promise<GrpcServer> {
  return listenGrpc({
    ...options,
    methods: { "/opentelemetry.proto.collector.trace.v1.TraceService/Export": "/otel/v1/traces" },
    contentType: "application/x-protobuf",
  });
}
