import { isIPv6 } from "node:net";

/**
 * What limits for an address count by: itself, or the network of an IPv6 address, as who has one has its 64 bits of others,
 * too (RFC 6177). An IPv4 address in IPv6 (RFC 4291, 2.5.5.2) is that IPv4 address.
 */
export function clientNetwork(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  const [head = "", rest] = address.split("%", 1)[0]!.split("::");
  const groups = head === "" ? [] : head.split(":");
  const behind = rest === undefined || rest === "" ? [] : rest.split(":");
  const all =
    rest === undefined ? groups : [...groups, ...Array(8 - groups.length - behind.length).fill("0"), ...behind];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}
