import { z } from "zod";

import type { Permission } from "../../base/auth/permissions.ts";
import type { PlatformApi } from "./platform-api.ts";

export interface Tool {
  name: string;
  title: string;
  description: string;
  /** Without it the caller does not see the tool. The routes behind the tool check all that they need. */
  permission: Permission;
  /** Absent: the tool only reads. `repeatable`: a second call with the same arguments changes nothing more. */
  writes?: { repeatable: boolean };
  input: z.ZodType;
  output: z.ZodType;
  run(api: PlatformApi, input: unknown): Promise<object>;
}

/** Declares a tool; exists for type inference of its input. */
export const tool = <I extends z.ZodType, O extends z.ZodType>(
  spec: Omit<Tool, "input" | "output" | "run"> & {
    input: I;
    output: O;
    run(api: PlatformApi, input: z.output<I>): Promise<z.input<O>>;
  },
): Tool => spec as unknown as Tool;

/** Describes a tool to clients. */
export function describeTool({ name, title, description, writes, input, output }: Tool): object {
  return {
    name,
    title,
    description,
    inputSchema: jsonSchema(input, "input"),
    outputSchema: jsonSchema(output, "output"),
    annotations: {
      title,
      readOnlyHint: !writes,
      // no tool deletes or overwrites
      destructiveHint: false,
      idempotentHint: writes?.repeatable ?? true,
      openWorldHint: false,
    },
  };
}

function jsonSchema(schema: z.ZodType, io: "input" | "output"): object {
  const described = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  delete described.$schema;
  return described;
}
