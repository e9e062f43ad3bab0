/** Validates the listening address and TLS files, and describes listen errors. */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { type AddressInfo, isIP } from "node:net";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { createError } from "../../errors.js";

export interface TlsFiles {
  /** The certificate chain in PEM, without the root. */
  readonly cert: string;
  readonly key: string;
}

/** Whether the host is only reachable from this machine. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  if (isIP(name) === 0) return name === "localhost" || name.endsWith(".localhost");
  return /^(::ffff:)?127\.|^::1$/.test(name);
}

/**
 * @throws http-insecure: tokens and passwords must not cross a network unencrypted unless this is allowed explicitly
 */
export function requireHttpsOrLoopback(host: string, tls: boolean, insecureHttp: boolean): void {
  if (!tls && !insecureHttp && !isLoopback(host)) throw createError("http-insecure", { host });
}

/** @throws option-invalid if a proxy is not an address, a network (RFC 4632) or a named range */
export function checkTrustedProxies(proxies: readonly string[]): void {
  for (const proxy of proxies) {
    const [address = "", length, ...rest] = proxy.split("/");
    const maxPrefixLength = isIP(address) === 4 ? 32 : isIP(address) === 6 ? 128 : -1;
    const isNetwork = length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= maxPrefixLength);
    const isNamed = ["loopback", "linklocal", "uniquelocal"].includes(proxy);
    if (isNamed || (maxPrefixLength > 0 && isNetwork && rest.length === 0)) continue;
    const expected = "an IP address, a network like 10.0.3.0/24, loopback, linklocal or uniquelocal";
    throw createError("option-invalid", { option: "--trust-proxy", value: proxy, expected });
  }
}

/** @throws certificate-invalid */
export function readCertificate(files: TlsFiles, now: number): SecureContextOptions {
  const [cert, key] = [files.cert, files.key].map((file) => {
    try {
      return readFileSync(file);
    } catch (error) {
      throw createError("certificate-invalid", { file, reason: (error as Error).message }, error);
    }
  });
  try {
    const { validFrom, validTo } = new X509Certificate(cert!);
    if (Date.parse(validFrom) > now)
      throw createError("certificate-invalid", { file: files.cert, reason: `it is not valid before ${validFrom}` });
    if (Date.parse(validTo) < now)
      throw createError("certificate-invalid", { file: files.cert, reason: `it expired on ${validTo}` });
    createSecureContext({ cert, key, minVersion: "TLSv1.2" });
  } catch (error) {
    if ((error as { code?: string }).code === "certificate-invalid") throw error;
    const reason = `${describeOpensslError(error as Error)}, for the key in ${files.key}`;
    throw createError("certificate-invalid", { file: files.cert, reason }, error);
  }
  return { cert, key, minVersion: "TLSv1.2" };
}

/** The last part of "error:05800074:x509 certificate routines::key values mismatch" is the message. */
const describeOpensslError = ({ message }: Error): string => message.split(":").at(-1)!.trim();

/** Converts a listen error to a message for users. @param option the option that sets the port */
export function toListenError(error: unknown, host: string, port: number, option = "--port"): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "EADDRINUSE") return createError("address-in-use", { host, port, option }, error);
  const reasons: Readonly<Record<string, string>> = {
    EACCES: "this port requires administrator rights",
    EADDRNOTAVAIL: "the address does not belong to this machine",
    ENOTFOUND: "the host name does not exist",
    EAI_AGAIN: "the host name cannot be resolved now",
    EAFNOSUPPORT: "this machine does not support this address family",
    EINVAL: "the address does not belong to this machine",
  };
  if (code === undefined || !Object.hasOwn(reasons, code)) return error;
  return createError("address-unavailable", { host, port, reason: reasons[code] ?? message }, error);
}

/** The origin of a listening server, as reachable from this machine. */
export function listenOrigin({ address, family, port }: AddressInfo, scheme: string, host: string): string {
  // A wildcard address includes the loopback address.
  if (address === "0.0.0.0") return `${scheme}://127.0.0.1:${port}`;
  if (address === "::") return `${scheme}://[::1]:${port}`;
  if (isIP(host) === 0) return `${scheme}://${host}:${port}`;
  return `${scheme}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
