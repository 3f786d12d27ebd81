import { describeStoredSecrets } from "./stored-secrets.ts";

describeStoredSecrets("langgraph.json", false);
