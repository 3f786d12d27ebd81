import { text } from "../config/options.ts";

/** Settings of all outbound calls, the same in every role. */
export const outboundOptions = {
  outboundAllow: text({
    env: ["HEDDLE_OUTBOUND_ALLOW"],
    default: "",
    description:
      "Targets that outbound requests may reach besides public addresses, separated by commas: host, host:port, " +
      "*.domain, address, [address]:port, network/bits. A name permits its private and loopback addresses; " +
      "link-local and metadata addresses must be listed as addresses.",
  }),
};
