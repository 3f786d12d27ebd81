/** A failed call; the message tells the model what to change. */
export class ToolError extends Error {
  override name = "ToolError";
}
