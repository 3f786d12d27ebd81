import type { ErrorFamily, ErrorMode } from "../../base/http/errors.ts";
import type { AgentSettings } from "../settings.ts";

type Setting = AgentSettings["errors"];

/** The Python SDK, and the HTTP libraries of Python. */
const PYTHON_CLIENT = /^langgraph-sdk-py\/|python/i;

/**
 * Chooses the format of an error by the caller's language: the Python client shows `detail` only, the JavaScript client
 * quotes the whole body.
 */
export const errorFormat = (setting: Setting, userAgent = ""): ErrorMode | ErrorFamily =>
  setting !== "auto" ? setting : PYTHON_CLIENT.test(userAgent) ? "python" : "text";

/** The format in the OpenAPI document. */
export const describedErrors = (setting: Setting): ErrorMode => (setting === "auto" ? "text" : setting);
