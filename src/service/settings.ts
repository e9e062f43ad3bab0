/** Limits of the service. The defaults allow an initial push of a million features. */
export interface Settings {
  /** Bytes of a request body, after decompression. */
  readonly bodyBytes: number;
  /** Nesting of objects and arrays in a body. */
  readonly bodyDepth: number;
  /** Members of a feature in a body, including nested ones in its properties. */
  readonly featureMembers: number;
  /** Bytes of request headers. */
  readonly headerBytes: number;
  /** Seconds within which the headers of a request must arrive. */
  readonly headerSeconds: number;
  /** Seconds within which the whole request must arrive. */
  readonly requestSeconds: number;
  /** Seconds without progress, or up to twice as many, after which a client that does not read is disconnected. */
  readonly sendSeconds: number;
  /** Seconds to keep an idle connection open. */
  readonly idleSeconds: number;
  /** Maps that an account can create; `geoferry admin` is not limited. */
  readonly mapsPerAccount: number;
  /** API requests per minute and account, in each process of the service. */
  readonly requestsPerMinute: number;
  /** Token requests per minute and address, in each process of the service. */
  readonly tokensPerMinute: number;
  /** Failed attempts with one name from one address within `attemptSeconds`, to sign in or to get a token. */
  readonly attemptsPerName: number;
  /** Failed attempts from one address within `attemptSeconds`, with any names. */
  readonly attemptsPerAddress: number;
  /** Seconds for which failed attempts are counted, starting with the first. */
  readonly attemptSeconds: number;
  /** Seconds of inactivity after which a user is signed out of the web pages. */
  readonly sessionIdleSeconds: number;
  /** Seconds after which a user is signed out of the web pages in any case. */
  readonly sessionSeconds: number;
  /** Minimum bytes of a response to be compressed, if the client accepts gzip. */
  readonly gzipBytes: number;
  /** Concurrent connections; above it, each new one closes a connection of the address or account with the most. */
  readonly connections: number;
  /** Concurrent connections from one address, except for trusted proxies. */
  readonly connectionsPerAddress: number;
  /** Seconds for which the end of a page is remembered, so that the next page number continues there. */
  readonly loopSeconds: number;
  /** Bytes of request bodies and pages in memory; a body counts four times after decompression, including parsed copies. */
  readonly memoryBytes: number;
  /** Bytes of pages over 1 MiB on disk, while clients read them. */
  readonly spoolBytes: number;
  /** Seconds for requests in progress to finish during shutdown. */
  readonly endSeconds: number;
}

export const defaultSettings: Settings = {
  bodyBytes: 10 * 1024 * 1024,
  bodyDepth: 100,
  featureMembers: 10_000,
  headerBytes: 16 * 1024,
  headerSeconds: 20,
  requestSeconds: 120,
  sendSeconds: 60,
  idleSeconds: 70,
  mapsPerAccount: 10_000,
  requestsPerMinute: 100_000,
  tokensPerMinute: 1000,
  attemptsPerName: 10,
  attemptsPerAddress: 100,
  attemptSeconds: 900,
  sessionIdleSeconds: 8 * 3600,
  sessionSeconds: 7 * 24 * 3600,
  gzipBytes: 1024,
  connections: 4096,
  connectionsPerAddress: 1024,
  loopSeconds: 60,
  memoryBytes: 256 * 1024 * 1024,
  spoolBytes: 2 * 1024 * 1024 * 1024,
  endSeconds: 25,
};

/**
 * Timers of Node.js are limited to 2^31 − 1 ms; longer ones fire at once. Deeper bodies would exhaust the stack, and
 * longer ones would exceed the maximum length of a string.
 */
const maxSettings: Partial<Settings> = {
  bodyBytes: 2 ** 28,
  bodyDepth: 1000,
  loopSeconds: 600,
  memoryBytes: Number.MAX_SAFE_INTEGER,
  spoolBytes: Number.MAX_SAFE_INTEGER,
  headerSeconds: 2_147_483,
  requestSeconds: 2_147_483,
  sendSeconds: 2_147_483,
  idleSeconds: 2_147_483,
  endSeconds: 2_147_483,
};

/** Maximum value of a setting. */
export const maxSetting = (name: keyof Settings): number => maxSettings[name] ?? 2 ** 31 - 1;
