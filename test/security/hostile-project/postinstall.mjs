import { readFileSync } from "node:fs";

import { attack, ownWork } from "./attack.mjs";

const targets = JSON.parse(readFileSync("targets.json", "utf8"));
console.log(`OUTCOME ${JSON.stringify({ succeeded: await attack(targets), failed: ownWork() })}`);
