/** What the service allows, with defaults that a first push of a million features does not meet. */
export interface Settings {
  /** Bytes of a request's body, after decompression. */
  readonly bodyBytes: number;
  /** Levels of objects and arrays in a body. */
  readonly bodyDepth: number;
  /** Members of a feature in a body, with those of objects in its properties. */
  readonly featureMembers: number;
  /** Bytes of a request's headers. */
  readonly headerBytes: number;
  /** Seconds until the headers of a request must have arrived. */
  readonly headerSeconds: number;
  /** Seconds until the whole request must have arrived. */
  readonly requestSeconds: number;
  /** Seconds after which a client is cut off that takes nothing of its answer. */
  readonly sendSeconds: number;
  /** Seconds that a connection is kept open between requests. */
  readonly idleSeconds: number;
  /** Requests a minute that one account may send to the API, to each process of the service. */
  readonly requestsPerMinute: number;
  /** Requests a minute that one address may send to the token endpoint, to each process of the service. */
  readonly tokensPerMinute: number;
  /** Failed attempts to sign in or to get a token with one name from one address, within `attemptSeconds`. */
  readonly attemptsPerName: number;
  /** Failed attempts from one address, whatever the name, within `attemptSeconds`. */
  readonly attemptsPerAddress: number;
  /** Seconds in which failed attempts are counted, from the first on. */
  readonly attemptSeconds: number;
  /** Seconds that a person stays signed in to the pages without doing anything. */
  readonly sessionIdleSeconds: number;
  /** Seconds that a person stays signed in to the pages at most. */
  readonly sessionSeconds: number;
  /** Answers of so many bytes on are compressed for who accepts it. */
  readonly gzipBytes: number;
  /** Connections at a time; for each one more, one is closed of the address or account that holds most. */
  readonly connections: number;
  /** Connections at a time from one address that is no trusted proxy. */
  readonly connectionsPerAddress: number;
  /** Seconds after a page of a map in which the next one by number begins where it ended. */
  readonly loopSeconds: number;
  /** Bytes of bodies and pages that are in memory at once; a body counts four times, for what is made of it. */
  readonly memoryBytes: number;
  /** Bytes of pages over 1 MiB that are on the disk at once, for as long as somebody reads them. */
  readonly spoolBytes: number;
  /** Seconds that requests have to end when the service ends. */
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
 * No timer of Node.js runs longer than 2^31 − 1 ms: one that is set for more ends at once. Deeper bodies than the
 * greatest depth would exhaust the stack, longer ones than a text can be could not be read.
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

/** The most that a setting may be. */
export const maxSetting = (name: keyof Settings): number => maxSettings[name] ?? 2 ** 31 - 1;
