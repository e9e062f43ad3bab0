/** The header of an SQLite database file (The SQLite Database File Format, section 1.3): its first 100 bytes. */
export interface SqliteHeader {
  /** Bytes of a page. */
  readonly pageSize: number;
  /** Bytes of a page that hold content; the rest is reserved for extensions. */
  readonly usable: number;
  readonly encoding: "utf8" | "utf16le" | "utf16be";
  readonly applicationId: number;
  readonly userVersion: number;
  /** SQLite would make files beside this one, were it only to read it: it is set to have a write-ahead log. */
  readonly logged: boolean;
  /** Pages that the header says there are, or null where an old program wrote last and did not say. */
  readonly pageCount: number | null;
}

export const headerBytes = 100;
const magic = "SQLite format 3\0";
const encodings = ["utf8", "utf8", "utf16le", "utf16be"] as const;

export const isSqlite = (head: Buffer): boolean =>
  head.length >= magic.length && head.toString("latin1", 0, magic.length) === magic;

/** The bytes at 68 in a GeoPackage of 1.0, of 1.1, and of any later version (OGC 12-128r19, Requirement 2). */
const applicationIds = new Map([
  [0x47503130, "1.0"],
  [0x47503131, "1.1"],
  [0x47504b47, null],
]);

export const isGeoPackageId = (applicationId: number): boolean => applicationIds.has(applicationId);

/** "1.4": from the application id of an old file, else from the user version, 10401 for 1.4.1. */
export function geoPackageVersionOf({ applicationId, userVersion }: SqliteHeader): string {
  const known = applicationIds.get(applicationId);
  return known ?? `${Math.floor(userVersion / 10_000)}.${Math.floor(userVersion / 100) % 100}`;
}

/** A power of two from 512 to 65536 (file format, 1.3.2). */
export const isPageSize = (size: number): boolean => size >= 512 && size <= 65_536 && (size & (size - 1)) === 0;

/** The header, or in words why it is none. */
export function readHeader(head: Buffer): SqliteHeader | string {
  if (!isSqlite(head)) return "it is no SQLite database, which a GeoPackage is";
  if (head.length < headerBytes) return "the header of 100 bytes is cut off";
  const size = head.readUInt16BE(16);
  const pageSize = size === 1 ? 65_536 : size;
  if (!isPageSize(pageSize)) return `the pages of ${pageSize} bytes are no power of two`;
  const usable = pageSize - head[20]!;
  if (usable < 480) return `of a page of ${pageSize} bytes only ${usable} are left for content`;
  const encoding = encodings[head.readUInt32BE(56)];
  if (!encoding) return `there is no text encoding ${head.readUInt32BE(56)}`;
  // The count is good only if the program that changed the file last knew of it (1.3.7).
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
