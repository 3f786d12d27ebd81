import { queryOptions } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import type { operations } from "../../api/trace.d.ts";

export type MaskingRule =
  operations["get_api_v1_masking_rules"]["responses"][200]["content"]["application/json"][number];
export type Detector = MaskingRule["detectors"][number];
export type Field = MaskingRule["fields"][number];

export const DETECTORS: Record<Detector, string> = {
  secret: "Secrets",
  email: "E-mail",
  phone: "Phone",
  card: "Card",
  iban: "IBAN",
  ip: "IP address",
  us_ssn: "US SSN",
};

export const FIELDS: Record<Field, string> = {
  inputs: "Inputs",
  outputs: "Outputs",
  error: "Error",
  events: "Events",
  metadata: "Metadata",
  extra: "Extra",
  serialized: "Serialized",
  name: "Names",
  tags: "Tags",
  attachments: "Attachments",
  feedback: "Feedback",
};

export const maskingQuery = queryOptions({
  queryKey: ["masking-rules"],
  queryFn: ({ signal }) => data(traceApi.GET("/api/v1/masking-rules", { signal })),
});
