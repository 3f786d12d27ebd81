/** The revision cannot be run; the message is for its owner. */
export class DeployError extends Error {
  override name = "DeployError";
}
