/** The revision cannot be built, and a retry would fail again. The message is for its owner. */
export class BuildError extends Error {
  override name = "BuildError";
}
