import { expect, test } from "vitest";

import { operationName } from "./operation-name.ts";

test.each([
  ["POST /api-key", "create_api_key"],
  ["DELETE /api/v1/api-key/:id", "delete_api_key"],
  ["POST /orgs/current/service-keys", "create_service_key"],
  ["PATCH /workspaces/:workspace_id", "update_workspace"],
  ["POST /datasets", "create_dataset"],
  ["PATCH /sessions/:id", "update_tracer_session"],
  ["PATCH /api/v1/bulk-exports/:id", "cancel_bulk_export"],
  ["DELETE /v2/deployments/:deployment_id", "delete_deployment"],
  ["POST /threads/:thread_id/copy", "copy_thread"],
  ["POST /assistants/:assistant_id/latest", "latest_assistant"],
  ["POST /login", "login"],
  ["heddle keys create", "create_api_key"],
  ["heddle secrets rotate", "heddle_secrets_rotate"],
])("%s is %s", (operation, name) => {
  expect(operationName(operation)).toBe(name);
});
