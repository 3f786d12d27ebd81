import { text } from "../config/options.ts";

/** Settings of the keyring, the same in every role and in every server of a database. */
export const secretsOptions = {
  secretsKeys: text({
    env: ["HEDDLE_SECRETS_KEYS"],
    default: undefined,
    secret: true,
    description:
      "Encryption keys of stored secrets, as id:base64 of 32 bytes, newest first, separated by commas. All " +
      "servers of a database need the same keys.",
  }),
  secretsKeyFile: text({
    env: ["HEDDLE_SECRETS_KEY_FILE"],
    default: undefined,
    description:
      "File with such keys, one per line; used when HEDDLE_SECRETS_KEYS is unset. Default: secrets.keys in the " +
      "data directory, created at the first start.",
  }),
};
