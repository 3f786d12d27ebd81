import { describeStoredSecrets } from "./stored-secrets.ts";

describeStoredSecrets("python.json", true);
