import { z } from "zod";

import { ALL_PERMISSIONS } from "../../base/auth/permissions.ts";
import { storableText, uuid } from "../../base/http/fields.ts";

export const accessScope = z.enum(["organization", "workspace"]);

export const role = z
  .object({
    id: uuid,
    name: z.string(),
    display_name: z.string(),
    description: z.string(),
    organization_id: uuid.nullable(),
    permissions: z.array(z.string()),
    access_scope: accessScope,
  })
  .meta({ id: "Role" });

export const roleContent = z.object({
  display_name: storableText.min(1).max(100),
  description: storableText.max(1000),
  permissions: z.array(z.enum(ALL_PERMISSIONS)).max(ALL_PERMISSIONS.length),
});

export const roleId = z.object({ role_id: uuid });

export const permission = z.object({ name: z.string(), description: z.string(), access_scope: accessScope });
