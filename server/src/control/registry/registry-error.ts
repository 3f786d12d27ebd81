/** Error with a code of the OCI distribution specification. */
export class RegistryError extends Error {
  override name = "RegistryError";
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}
