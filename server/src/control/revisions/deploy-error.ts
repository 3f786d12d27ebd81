/** The revision cannot run. The message is for its owner. */
export class DeployError extends Error {
  override name = "DeployError";
}
