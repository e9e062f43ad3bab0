/** The first 100 bytes of an SQLite database file (The SQLite Database File Format, section 1.3). */
export interface SqliteHeader {
  readonly pageSize: number;
  /** Usable bytes of a page; the rest is reserved for extensions. */
  readonly usable: number;
  readonly encoding: "utf8" | "utf16le" | "utf16be";
  readonly applicationId: number;
  readonly userVersion: number;
  /** In WAL mode: SQLite would create files beside the database even to read it. */
  readonly logged: boolean;
  /** Number of pages; null if the last writer did not update it (1.3.7). */
  readonly pageCount: number | null;
}

export const headerBytes = 100;
const magic = "SQLite format 3\0";
const encodings = ["utf8", "utf8", "utf16le", "utf16be"] as const;

export const isSqlite = (head: Buffer): boolean =>
  head.length >= magic.length && head.toString("latin1", 0, magic.length) === magic;

/** Application ids of GeoPackage 1.0, 1.1 and later (OGC 12-128r19, Requirement 2). */
const applicationIds = new Map([
  [0x47503130, "1.0"],
  [0x47503131, "1.1"],
  [0x47504b47, null],
]);

export const isGeoPackageId = (applicationId: number): boolean => applicationIds.has(applicationId);

/** The version such as "1.4", from the application id of old files, else from the user version (10401 for 1.4.1). */
export function geoPackageVersionOf({ applicationId, userVersion }: SqliteHeader): string {
  const known = applicationIds.get(applicationId);
  return known ?? `${Math.floor(userVersion / 10_000)}.${Math.floor(userVersion / 100) % 100}`;
}

/** A power of two from 512 to 65536 (file format, 1.3.2). */
export const isPageSize = (size: number): boolean => size >= 512 && size <= 65_536 && (size & (size - 1)) === 0;

/** Parses the header, or returns the reason why it is invalid. */
export function readHeader(head: Buffer): SqliteHeader | string {
  if (!isSqlite(head)) return "it is not an SQLite database, as a GeoPackage must be";
  if (head.length < headerBytes) return "the 100-byte header is truncated";
  const size = head.readUInt16BE(16);
  const pageSize = size === 1 ? 65_536 : size;
  if (!isPageSize(pageSize)) return `the page size of ${pageSize} bytes is not a power of two from 512 to 65536`;
  const usable = pageSize - head[20]!;
  if (usable < 480) return `only ${usable} of ${pageSize} bytes of a page are usable, fewer than 480`;
  const encoding = encodings[head.readUInt32BE(56)];
  if (!encoding) return `unknown text encoding ${head.readUInt32BE(56)}`;
  // The count is valid only if the last writer updated it (1.3.7).
  const counted = head.readUInt32BE(24) === head.readUInt32BE(92) && head.readUInt32BE(28) > 0;
  return {
    pageSize,
    usable,
    encoding,
    applicationId: head.readUInt32BE(68),
    userVersion: head.readUInt32BE(60),
    logged: head[18] === 2 || head[19] === 2,
    pageCount: counted ? head.readUInt32BE(28) : null,
  };
}
