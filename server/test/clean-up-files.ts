/** Setup file of vitest: runs before each test file. */
import { cleanUpAfterFile } from "./at-end.ts";

cleanUpAfterFile();
