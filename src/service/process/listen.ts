/** Where the service can be reached, and whether that is safe. */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { type AddressInfo, isIP } from "node:net";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { createError } from "../../errors.js";

export interface TlsFiles {
  /** The certificate and those between it and the root, in PEM. */
  readonly cert: string;
  readonly key: string;
}

/** Whether only programs of this machine reach it. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  if (isIP(name) === 0) return name === "localhost" || name.endsWith(".localhost");
  return /^(::ffff:)?127\.|^::1$/.test(name);
}

/** @throws http-insecure: tokens and passwords must not cross a network in the clear unless somebody says so */
export function requireHttpsOrLoopback(host: string, tls: boolean, insecureHttp: boolean): void {
  if (!tls && !insecureHttp && !isLoopback(host)) throw createError("http-insecure", { host });
}

/** @throws option-invalid where it is not an address, a network (RFC 4632) or one of the names of several */
export function checkTrustedProxies(proxies: readonly string[]): void {
  for (const proxy of proxies) {
    const [address = "", length, ...rest] = proxy.split("/");
    const most = isIP(address) === 4 ? 32 : isIP(address) === 6 ? 128 : -1;
    const isNetwork = length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= most);
    const isNamed = ["loopback", "linklocal", "uniquelocal"].includes(proxy);
    if (isNamed || (most > 0 && isNetwork && rest.length === 0)) continue;
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
    const { validTo } = new X509Certificate(cert!);
    if (Date.parse(validTo) < now)
      throw createError("certificate-invalid", { file: files.cert, reason: `it was valid until ${validTo}` });
    createSecureContext({ cert, key, minVersion: "TLSv1.2" });
  } catch (error) {
    if ((error as { code?: string }).code === "certificate-invalid") throw error;
    const reason = `${describeOpensslError(error as Error)}, for the key in ${files.key}`;
    throw createError("certificate-invalid", { file: files.cert, reason }, error);
  }
  return { cert, key, minVersion: "TLSv1.2" };
}

/** "error:05800074:x509 certificate routines::key values mismatch" is about the last words. */
const describeOpensslError = ({ message }: Error): string => message.split(":").at(-1)!.trim();

/** What went wrong with listening, for people. */
export function toListenError(error: unknown, host: string, port: number): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "EADDRINUSE") return createError("address-in-use", { host, port }, error);
  const reasons: Readonly<Record<string, string>> = {
    EACCES: "the system lets only its administrator use this port",
    EADDRNOTAVAIL: "it is no address of this machine",
    ENOTFOUND: "there is no host of this name",
    EAI_AGAIN: "the name cannot be looked up now",
    EAFNOSUPPORT: "this machine does not have this kind of address",
    EINVAL: "it is no address of this machine",
  };
  if (code === undefined || !Object.hasOwn(reasons, code)) return error;
  return createError("address-unavailable", { host, port, reason: reasons[code] ?? message }, error);
}

/** The address of a server that listens, which a program of this machine can use. */
export function listenOrigin({ address, family, port }: AddressInfo, scheme: string, host: string): string {
  // All addresses: this one is among them.
  if (address === "0.0.0.0") return `${scheme}://127.0.0.1:${port}`;
  if (address === "::") return `${scheme}://[::1]:${port}`;
  if (isIP(host) === 0) return `${scheme}://${host}:${port}`;
  return `${scheme}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
