import { text } from "../config/options.ts";

/** Settings of the keyring, the same in every role and in every server of a database. */
export const secretsOptions = {
  secretsKeys: text({
    env: ["HEDDLE_SECRETS_KEYS"],
    default: undefined,
    secret: true,
    description:
      "Keys that stored secrets are encrypted with, as id:base64 of 32 bytes, newest first, separated by commas. " +
      "All servers of a database need the same.",
  }),
  secretsKeyFile: text({
    env: ["HEDDLE_SECRETS_KEY_FILE"],
    default: undefined,
    description:
      "A file with such keys, one a line, where HEDDLE_SECRETS_KEYS is not given. " +
      "Default: secrets.keys in the data directory, made at the first start.",
  }),
};
