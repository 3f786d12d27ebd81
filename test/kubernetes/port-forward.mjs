// `kubectl port-forward service/NAME PORT` for the cluster of the tests, whose nodes do not have it:
//
//     node test/kubernetes/port-forward.mjs KUBECTL [-n NAMESPACE] port-forward service/NAME PORT
//
// Like kubectl, it chooses one pod of the service at the start, and forwards connections to that pod only.
import { execFileSync } from "node:child_process";
import { connect, createServer } from "node:net";

const [kubectl, ...args] = process.argv.slice(2);
const at = args.indexOf("port-forward");
const [target, port] = args.slice(at + 1);
const service = target.replace(/^service\//, "");
const path = "jsonpath={.subsets[0].addresses[0].ip} {.subsets[0].ports[0].port}";
const found = execFileSync(kubectl, [...args.slice(0, at), "get", "endpoints", service, "-o", path], {
  encoding: "utf8",
});
const [host, to] = found.split(" ");
if (!host) throw new Error(`${service} has no ready pod`);

const server = createServer((from) => {
  const pod = connect(Number(to), host);
  for (const socket of [from, pod]) socket.on("error", () => (from.destroy(), pod.destroy()));
  from.pipe(pod).pipe(from);
});
server.listen(Number(port), "127.0.0.1", () => console.log(`Forwarding from 127.0.0.1:${port} -> ${to}`));
