/** Encrypts data keys, with a key of the settings or with the project's own handlers. */
export interface KeyWrapper {
  /** Value of `state_keys.wrapped_by`. */
  id: string;
  wrap(keyId: string, key: Buffer): Promise<Buffer>;
  /** `replacement`: a newer encrypted form to store. */
  unwrap(keyId: string, wrapped: Buffer): Promise<{ key: Buffer; replacement?: Buffer | undefined }>;
}

/** Value of `wrapped_by` for the project's own handlers. */
export const CUSTOM = "custom";
