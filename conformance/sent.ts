/** What every request of the suite carries, beside what its test sends (send-secrets.ts). */
export const SENT = {
  "x-api-key": `lsv2_sk_${"c0ffee5e".repeat(8)}_c0ffee5e01`,
  cookie: "conformance-cookie-7Hd3mV5xRt",
} as const;
