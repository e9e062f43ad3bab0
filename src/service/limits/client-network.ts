import { isIPv6 } from "node:net";

/**
 * The unit of address limits: the IPv4 address, or the /64 network of an IPv6 address, since one client usually has all
 * of its addresses (RFC 6177). An IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2) counts as IPv4.
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
