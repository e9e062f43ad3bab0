/**
 * The client of S3 and compatible stores, and its errors. The client finds credentials, region and endpoint itself
 * (environment, profiles, roles); this file sets the remaining options. Load it only for `s3:` addresses, since loading
 * takes longer than a small conversion.
 */
import { S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import { createError, GeoferryError } from "../../errors.js";
import { NoResponseError } from "../http/http-exchange.js";
import { classifyNetworkError } from "../http/network-failure.js";
import { formatBucketAddress } from "./bucket-address.js";
import { requestHandler, retryStrategy } from "./s3-http-handler.js";

const isTrueText = (text: string | undefined): boolean => /^(1|true|yes|on)$/i.test(text ?? "");
const isFalseText = (text: string | undefined): boolean => /^(0|false|no|off)$/i.test(text ?? "");

/** Sends unsigned requests without looking for credentials. */
const anonymousConfig: S3ClientConfig = {
  credentials: { accessKeyId: "", secretAccessKey: "" },
  signer: { sign: async (request) => request },
};

/** The URL of a store other than Amazon's; empty if none is set. */
export const customEndpoint = ({ AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL }: NodeJS.ProcessEnv): string =>
  AWS_ENDPOINT_URL_S3 || AWS_ENDPOINT_URL || "";

/**
 * `AWS_VIRTUAL_HOSTING` and `AWS_NO_SIGN_REQUEST` have the same meaning as in GDAL. For a custom endpoint, path-style
 * addresses are the default, and checksums are sent only if required, since other stores may not support them.
 */
function clientConfig(environment: NodeJS.ProcessEnv): S3ClientConfig {
  const {
    AWS_REGION,
    AWS_DEFAULT_REGION,
    AWS_VIRTUAL_HOSTING,
    AWS_NO_SIGN_REQUEST,
    AWS_REQUEST_CHECKSUM_CALCULATION,
    AWS_RESPONSE_CHECKSUM_VALIDATION,
  } = environment;
  const isOwn = customEndpoint(environment) !== "";
  const region = AWS_REGION || AWS_DEFAULT_REGION || (isOwn ? "us-east-1" : undefined);
  return {
    ...(region ? { region } : {}),
    forcePathStyle: isOwn ? !isTrueText(AWS_VIRTUAL_HOSTING) : isFalseText(AWS_VIRTUAL_HOSTING),
    followRegionRedirects: true,
    ...(isOwn && !AWS_REQUEST_CHECKSUM_CALCULATION ? { requestChecksumCalculation: "WHEN_REQUIRED" as const } : {}),
    ...(isOwn && !AWS_RESPONSE_CHECKSUM_VALIDATION ? { responseChecksumValidation: "WHEN_REQUIRED" as const } : {}),
    ...(isTrueText(AWS_NO_SIGN_REQUEST) ? anonymousConfig : {}),
    ...{ requestHandler, retryStrategy },
    // geoferry reports errors itself.
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  };
}

let sharedClient: S3Client | undefined;

/** Shared by the process, like its connections. */
function getClient(): S3Client {
  // Suppresses the client's warning about Node 20, which geoferry still supports.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
  sharedClient ??= new S3Client(clientConfig(process.env));
  return sharedClient;
}

/** The object and purpose of a request, for messages. */
export interface S3Operation {
  readonly bucket: string;
  /** Key of an object, or a prefix. */
  readonly key: string;
  readonly purpose: "read" | "write";
  readonly signal: AbortSignal;
}

/** A failed request. */
export interface S3Failure {
  /** HTTP status; null without a response. */
  readonly status: number | null;
  /** Error code of S3: "NoSuchBucket". */
  readonly name: string;
  readonly reason: string;
}

export function toS3Failure(error: unknown): S3Failure {
  const { name, message, $metadata } = error as Error & { readonly $metadata?: { readonly httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode ?? null;
  // Some stores send only the code, and responses to HEAD have no body.
  const text = message && message !== "UnknownError" ? message : `the store answers ${status ?? ""} ${name}`.trim();
  return { status, name, reason: text.replace(/\s+/g, " ").replace(/\.$/, "") };
}

/** Codes for missing or invalid credentials. */
const credentialErrorName =
  /^(CredentialsProviderError|ExpiredToken|InvalidToken|TokenRefreshRequired|InvalidAccessKeyId)/;
/** Codes for which a retry may succeed. */
const transientErrorName =
  /^(SlowDown|Throttling|RequestLimitExceeded|RequestTimeout|TimeoutError|InternalError|ServiceUnavailable)/;

/** Converts an error of the client; the caller throws the result. */
export function bucketError(error: unknown, { bucket, key, purpose, signal }: S3Operation): GeoferryError {
  if (error instanceof GeoferryError) return error;
  if (signal.aborted) return createError("interrupted", {}, error);
  const address = formatBucketAddress({ bucket, key });
  if (error instanceof NoResponseError && error.failure.isTransient)
    return createError("bucket-unavailable", { address, reason: error.failure.reason }, error);
  const { status, name, reason } = toS3Failure(error);
  if (status === 401 || status === 403 || credentialErrorName.test(name))
    return createError("bucket-forbidden", { address, reason }, error);
  if (status === 412) return createError("input-changed", { source: address }, error);
  if (transientErrorName.test(name) || status === 429 || (status !== null && status >= 500))
    return createError("bucket-unavailable", { address, reason }, error);
  if (/region is missing/i.test(reason))
    return createError("bucket-settings", { address, reason: missingRegionReason }, error);
  if (/not a valid URI|Invalid URL/i.test(reason))
    return createError("bucket-settings", { address, reason: invalidEndpointReason }, error);
  if (status === null || (status >= 200 && status < 300)) {
    const { reason, isTransient } = classifyNetworkError(error);
    if (isTransient) return createError("bucket-unavailable", { address, reason }, error);
    return bucketSettingsError(address, purpose, reason, error);
  }
  if (name === "NoSuchBucket") return bucketSettingsError(address, purpose, `there is no bucket "${bucket}"`, error);
  if (status === 404 && purpose === "read") return createError("input-missing", { source: address }, error);
  return bucketSettingsError(address, purpose, reason, error);
}

const missingRegionReason =
  "no region is set; name it in AWS_REGION, or another store than Amazon's in AWS_ENDPOINT_URL_S3";

const invalidEndpointReason =
  "AWS_ENDPOINT_URL_S3, or AWS_ENDPOINT_URL, is not an address of a store; write https://host:port";

const bucketSettingsError = (
  address: string,
  use: S3Operation["purpose"],
  reason: string,
  cause: unknown,
): GeoferryError =>
  use === "read"
    ? createError("input-download", { source: address, reason }, cause)
    : createError("output-failed", { output: address, reason }, cause);

/** The error of a response that breaks the protocol. */
export const invalidResponseError = ({ bucket, key, purpose }: S3Operation, reason: string): GeoferryError =>
  bucketSettingsError(formatBucketAddress({ bucket, key }), purpose, reason, undefined);

/**
 * Runs a request. The client itself retries transient errors.
 * @throws bucket-forbidden, bucket-unavailable, bucket-settings, input-missing, input-changed, input-download, output-failed, interrupted
 */
export async function runS3Operation<T>(
  operation: S3Operation,
  request: (client: S3Client, options: { readonly abortSignal: AbortSignal }) => Promise<T>,
): Promise<T> {
  try {
    // A new signal, since the client does not remove its listeners, and the signal lives as long as the run.
    return await request(getClient(), { abortSignal: AbortSignal.any([operation.signal]) });
  } catch (error) {
    throw bucketError(error, operation);
  }
}
