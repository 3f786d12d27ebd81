import { expect, test } from "vitest";

import { nameOptions } from "./export-words.ts";

test.each([
  [
    "422 Invalid body: session_id: must be a UUID; start_time: must be an ISO 8601 time",
    "--project: must be a UUID; --from: must be an ISO 8601 time",
  ],
  ["422 Invalid body: end_time: must be later than start_time", "--to: must be later than --from"],
  [
    "422 Invalid body: end_time: must be omitted when interval_hours is set",
    "--to: must be omitted when --every-hours is set",
  ],
  ['422 Invalid body: export_fields.0: there is no field "a"', '--fields: there is no field "a"'],
  // a filter refers to a run's fields, which are not options
  [
    '422 Invalid body: filter: Invalid filter at character 3: there is no field "x"; there are id, start_time, name',
    '--filter: Invalid filter at character 3: there is no field "x"; there are id, start_time, name',
  ],
  ["404 Session with ID 1 not found", "There is no project 1."],
  [
    "404 Bulk export destination with ID 1 not found",
    "There is no destination 1. To list them: heddle export destinations",
  ],
  ["403 You may not.", "403 You may not."],
])("rewrites %j as %j", (received, expected) => {
  expect(nameOptions(received)).toBe(expected);
});
