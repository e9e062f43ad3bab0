/** Classifies errors of Node's fetch and of node:http, with a reason for messages. */

export interface NetworkFailure {
  readonly reason: string;
  /** Whether a retry may succeed. */
  readonly isTransient: boolean;
  /** Whether the server's certificate cannot be trusted. */
  readonly isUntrusted: boolean;
}

const connectionClosed = "the server closed the connection";

const reasonsByCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the server refuses the connection",
  ECONNRESET: connectionClosed,
  EPIPE: connectionClosed,
  UND_ERR_SOCKET: connectionClosed,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "the server sent fewer bytes than announced",
  ENOTFOUND: "the host does not exist",
  EAI_AGAIN: "the name of the host cannot be resolved now",
  ETIMEDOUT: "the server does not answer",
  EHOSTUNREACH: "the host is unreachable",
  ENETUNREACH: "the network of the host is unreachable",
  UND_ERR_CONNECT_TIMEOUT: "the server does not answer",
  Z_BUF_ERROR: "the compressed response ends too early",
  Z_DATA_ERROR: "the compressed response is damaged",
  HPE_HEADER_OVERFLOW: "the headers of the response exceed 16 KiB",
  CERT_HAS_EXPIRED: "the server's certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the server's certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "the server's certificate is self-signed",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the server's certificate cannot be verified",
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: "the server requires client certificates, which geoferry does not support",
};

/** Certificate errors of OpenSSL and Node.js. */
const certificateErrorCode = /^(?!.*_ALERT_).*CERT|^UNABLE_TO/;

/** OpenSSL's errors for a response that is not TLS: `…:SSL routines:ssl3_get_record:wrong version number:…`. */
const notTlsMessage = /wrong version number|packet length too long|unknown protocol/i;

/** OpenSSL's errors where client and server have no version of TLS in common. */
const tlsVersionMessage = /alert protocol version|unsupported protocol/i;

/** Type and version of a TLS alert (RFC 8446, 5.1), with which some servers answer a plain request. */
const tlsAlertPrefix = "1503";

/** Errors that a retry does not solve: certificate errors, and errors that are not known to come from the network. */
const permanentErrorCode = /CERT|^UNABLE_TO|^ERR_(?!STREAM_PREMATURE_CLOSE)|^HPE_HEADER_OVERFLOW/;

/**
 * @param error thrown by a request or by reading its response
 * @param plain the scheme without TLS, for messages
 */
export function classifyNetworkError(error: unknown, plain = "http"): NetworkFailure {
  const failure = rootCause(error);
  const { code, message } = failure;
  const otherwise = protocolMismatchReason(failure, plain);
  if (otherwise !== null) return { reason: otherwise, isTransient: false, isUntrusted: false };
  const reason =
    (code && reasonsByCode[code]) || (message === "terminated" ? connectionClosed : withoutOpenSslPrefix(message));
  const isUntrusted = code !== undefined && certificateErrorCode.test(code);
  return {
    reason,
    isTransient: code !== undefined ? !permanentErrorCode.test(code) : reason === connectionClosed,
    isUntrusted,
  };
}

/** Adds advice if a server never responded: many servers that only accept TLS close plain connections. */
export function classifyFirstFailure(failure: NetworkFailure, address: string): NetworkFailure {
  const plain = /^(http|redis):/i.exec(address)?.[1];
  if (failure.reason !== connectionClosed || plain === undefined) return failure;
  return { ...failure, reason: `${connectionClosed}; if it only accepts TLS, write ${plain}s://` };
}

/** The reason if only one side uses TLS, or both in versions that do not match; else null. */
function protocolMismatchReason(failure: NodeJS.ErrnoException, plain: string): string | null {
  const { code = "", message } = failure;
  if (/SSL|EPROTO/.test(code) && notTlsMessage.test(message))
    return `the server does not use TLS; to connect without encryption, write ${plain}://`;
  if (/SSL|EPROTO/.test(code) && tlsVersionMessage.test(message))
    return "the server only offers versions of TLS before 1.2, which are not secure";
  const { rawPacket, data } = failure as { readonly rawPacket?: Buffer; readonly data?: string | Buffer };
  const isAlert = Buffer.from(rawPacket ?? data ?? "").toString("hex", 0, 2) === tlsAlertPrefix;
  return code.startsWith("HPE_") && isAlert ? "the server only accepts TLS; write https://" : null;
}

/** Extracts the text of an OpenSSL error: `write EPROTO 80…:error:0A000438:SSL routines:ssl3_read_bytes:tlsv1 alert internal error:…` */
const withoutOpenSslPrefix = (message: string): string => /:SSL routines:[^:]*:([^:]+)/.exec(message)?.[1] ?? message;

/** Unwraps causes and aggregate errors (one error for each address of a host) down to the system error. */
function rootCause(error: unknown): NodeJS.ErrnoException {
  const { cause, errors } = error as AggregateError;
  const inner: unknown = cause ?? errors?.[0];
  return inner instanceof Error ? rootCause(inner) : (error as NodeJS.ErrnoException);
}
