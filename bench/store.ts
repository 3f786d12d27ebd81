// A store that speaks S3, in a process of its own; prints its port. For bench/export.ts.
import { startFauxqs } from "fauxqs";

const store = await startFauxqs({ port: 0, host: "127.0.0.1", logger: false });
await fetch(`http://127.0.0.1:${store.port}/bench`, { method: "PUT" });
console.log(store.port);
process.stdin.on("end", () => process.exit(0)).resume();
