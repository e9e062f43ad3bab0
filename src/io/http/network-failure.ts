/** What went wrong between a program and a server, in words, from what Node's fetch or a request of node:http throws. */

export interface NetworkFailure {
  readonly reason: string;
  /** Whether another attempt may go better. */
  readonly isTransient: boolean;
  /** The server's certificate is not to be trusted. */
  readonly isUntrusted: boolean;
}

const connectionClosed = "the server broke off the connection";

const reasonsByCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the server refuses the connection",
  ECONNRESET: connectionClosed,
  EPIPE: connectionClosed,
  UND_ERR_SOCKET: connectionClosed,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "the server sent less than it announced",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the host's name cannot be looked up now",
  ETIMEDOUT: "the server does not answer",
  EHOSTUNREACH: "there is no way to the host now",
  ENETUNREACH: "there is no way to the host now",
  UND_ERR_CONNECT_TIMEOUT: "the server does not answer",
  Z_BUF_ERROR: "the answer is compressed, and ends too early",
  Z_DATA_ERROR: "the answer is compressed, and damaged",
  HPE_HEADER_OVERFLOW: "the head of the answer has more than 16 KiB",
  CERT_HAS_EXPIRED: "the server's certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the server's certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "the server's certificate is self-signed",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the server's certificate cannot be verified",
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: "the server wants a certificate of each client, and geoferry shows none",
};

/** Codes of OpenSSL for certificates, and Node's own. */
const certificateErrorCode = /^(?!.*_ALERT_).*CERT|^UNABLE_TO/;

/** What OpenSSL says of an answer that is none of TLS: `…:SSL routines:ssl3_get_record:wrong version number:…`. */
const notTlsMessage = /wrong version number|packet length too long|unknown protocol/i;

/** Type and version of an alert of TLS (RFC 8446, 5.1), with which some servers answer a plain request. */
const tlsAlertPrefix = "1503";

/** Failures that waiting does not mend: those of certificates, and whatever is not known to be the network's. */
const permanentErrorCode = /CERT|^UNABLE_TO|^ERR_(?!STREAM_PREMATURE_CLOSE)|^HPE_HEADER_OVERFLOW/;

/**
 * @param error what a request, or the reading of its answer, threw
 * @param plain how addresses begin of servers of the kind without TLS
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

/** The same of a server that has never answered: many that speak TLS alone break off what is plain. */
export function classifyFirstFailure(failure: NetworkFailure, address: string): NetworkFailure {
  const plain = /^(http|redis):/i.exec(address)?.[1];
  if (failure.reason !== connectionClosed || plain === undefined) return failure;
  return { ...failure, reason: `${connectionClosed}; where it speaks TLS alone, write ${plain}s://` };
}

/** That the server speaks another protocol than the address says; null where it is not known to. */
function protocolMismatchReason(failure: NodeJS.ErrnoException, plain: string): string | null {
  const { code = "", message } = failure;
  if (/SSL|EPROTO/.test(code) && notTlsMessage.test(message))
    return `what answers there does not speak TLS; where all may cross the network in the clear, write ${plain}://`;
  const { rawPacket, data } = failure as { readonly rawPacket?: Buffer; readonly data?: string | Buffer };
  const isAlert = Buffer.from(rawPacket ?? data ?? "").toString("hex", 0, 2) === tlsAlertPrefix;
  return code.startsWith("HPE_") && isAlert ? "what answers there speaks TLS alone; write https://" : null;
}

/** Of what OpenSSL says the words: `write EPROTO 80…:error:0A000438:SSL routines:ssl3_read_bytes:tlsv1 alert internal error:…` */
const withoutOpenSslPrefix = (message: string): string => /:SSL routines:[^:]*:([^:]+)/.exec(message)?.[1] ?? message;

/** Causes and lists of errors (one for each address of a host) wrap what the operating system said. */
function rootCause(error: unknown): NodeJS.ErrnoException {
  const { cause, errors } = error as AggregateError;
  const inner: unknown = cause ?? errors?.[0];
  return inner instanceof Error ? rootCause(inner) : (error as NodeJS.ErrnoException);
}
