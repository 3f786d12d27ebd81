import type { operations } from "../../api/trace.d.ts";

type Body = NonNullable<
  operations["post_api_v1_datasets_dataset_id_examples_from_runs"]["requestBody"]
>["content"]["application/json"];
export type RunMapping = NonNullable<Body["mapping"]>;
export type FromRunsAnswer =
  operations["post_api_v1_datasets_dataset_id_examples_from_runs"]["responses"][200]["content"]["application/json"];

/** A line of the mapping editor: a field of the example, and where its value comes from. */
export interface MappingRow {
  part: "inputs" | "outputs" | "metadata";
  /** Empty: the whole part. */
  field: string;
  path: string;
}

export const PARTS = ["inputs", "outputs", "metadata"] as const;

/** What is taken without a mapping. */
export const WHOLE_RUN: MappingRow[] = [
  { part: "inputs", field: "", path: "inputs" },
  { part: "outputs", field: "", path: "outputs" },
];

export function toRows(mapping: RunMapping | null): MappingRow[] {
  if (!mapping) return WHOLE_RUN;
  const given: Record<MappingRow["part"], string | Record<string, string>> = {
    inputs: mapping.inputs ?? "inputs",
    outputs: mapping.outputs ?? "outputs",
    metadata: mapping.metadata ?? {},
  };
  return PARTS.flatMap((part) => {
    const value = given[part];
    if (typeof value === "string") return [{ part, field: "", path: value }];
    return Object.entries(value).map(([field, path]) => ({ part, field, path }));
  });
}

/** Returns the mapping of the rows; null for the run's own inputs and outputs. */
export function toMapping(rows: readonly MappingRow[]): RunMapping | null {
  const filled = rows.filter((row) => row.path.trim() !== "");
  const isWhole = (row: MappingRow) => row.field === "" && row.path.trim() === row.part;
  if (filled.every(isWhole)) return null;
  const partOf = (part: MappingRow["part"]) => {
    const own = filled.filter((row) => row.part === part);
    const whole = own.find((row) => row.field.trim() === "");
    if (whole) return whole.path.trim();
    return Object.fromEntries(own.map((row) => [row.field.trim(), row.path.trim()]));
  };
  const metadata = partOf("metadata");
  return {
    inputs: partOf("inputs"),
    outputs: partOf("outputs"),
    ...(typeof metadata === "object" && Object.keys(metadata).length > 0 && { metadata }),
  };
}
