/** One column of a table, as the header describes it. */
export interface DbfColumn {
  /** The bytes of the name, one character each, up to the NUL. */
  readonly rawName: string;
  /** The type's letter: C, N, F, L, D, M, I, B, O, T, @, +, Y, V, Q, W, G, P. */
  readonly type: string;
  /** Offset of the cell in a record; the deletion mark is byte 0. */
  readonly offset: number;
  /** Bytes of a cell. */
  readonly width: number;
  readonly decimals: number;
  /** Bit of the _NullFlags column that says "null" or, for V and Q, "shorter than its width"; -1 for none. */
  readonly nullBit: number;
  readonly lengthBit: number;
}

export interface DbfHeader {
  readonly version: number;
  readonly records: number;
  readonly headerBytes: number;
  readonly recordBytes: number;
  readonly languageByte: number;
  readonly columns: readonly DbfColumn[];
  /** Offset of Visual FoxPro's _NullFlags in a record; -1 if there are none. */
  readonly nullFlagsOffset: number;
  /** dBASE 7 stores integers and doubles big-endian with the sign bit inverted. */
  readonly dbase7: boolean;
}

/** The layout of the column descriptors: dBASE III+ to FoxPro, and dBASE 7. */
interface DescriptorLayout {
  readonly start: number;
  readonly size: number;
  readonly nameBytes: number;
  readonly type: number;
  readonly width: number;
  /** Clipper and FoxPro store the high byte of a text column's width in the byte for decimals. */
  readonly wideText: boolean;
}
const dbase3Layout: DescriptorLayout = { start: 32, size: 32, nameBytes: 11, type: 11, width: 16, wideText: false };
const clipperLayout: DescriptorLayout = { ...dbase3Layout, wideText: true };
const dbase7Layout: DescriptorLayout = { start: 68, size: 48, nameBytes: 32, type: 32, width: 33, wideText: false };

const terminator = 0x0d;
const nullable = 0x02;
const flagsOffset = 18;

interface ParsedColumns {
  columns: DbfColumn[];
  nullFlagsOffset: number;
  bytes: number;
}

function readColumns(head: Buffer, headerBytes: number, layout: DescriptorLayout): ParsedColumns | null {
  const columns: DbfColumn[] = [];
  const end = Math.min(headerBytes, head.length);
  let offset = 1;
  let bit = 0;
  let nullFlagsOffset = -1;
  for (let at = layout.start; at + layout.size <= end && head[at] !== terminator; at += layout.size) {
    const letter = head[at + layout.type]!;
    // Some headers are padded with zeros and have no terminator.
    if (letter === 0 && head[at] === 0) break;
    if (letter < 0x20 || letter > 0x7a) return null;
    const type = String.fromCharCode(letter).toUpperCase();
    const high = head[at + layout.width + 1]!;
    const wide = layout.wideText && type === "C";
    const width = head[at + layout.width]! + (wide ? high * 256 : 0);
    const flags = layout.size === 32 ? head[at + flagsOffset]! : 0;
    const varying = type === "V" || type === "Q";
    const lengthBit = varying ? bit++ : -1;
    const nullBit = flags & nullable ? bit++ : -1;
    if (type === "0") nullFlagsOffset = offset;
    else {
      const rawName = head.toString("latin1", at, at + layout.nameBytes);
      columns.push({ rawName, type, offset, width, decimals: wide ? 0 : high, nullBit, lengthBit });
    }
    offset += width;
  }
  return { columns, nullFlagsOffset, bytes: offset };
}

const knownVersions = new Set([
  0x02, 0x03, 0x04, 0x05, 0x07, 0x0b, 0x23, 0x30, 0x31, 0x32, 0x43, 0x63, 0x7b, 0x83, 0x87, 0x8b, 0x8c, 0x8e, 0xb3,
  0xcb, 0xe5, 0xf5, 0xfb,
]);

/**
 * Parses the header of a dBASE III+, IV, 5 or 7, Clipper or FoxPro table from its first bytes (64 KiB hold any header).
 * Returns the reason if it is invalid. Accepts headers without a terminator, with padding, or with FoxPro's 263 bytes
 * of backlink.
 */
export function readDbfHeader(head: Buffer, fileBytes: number): DbfHeader | string {
  if (head.length < 32) return `the file has ${head.length} bytes, fewer than the 32-byte header`;
  const version = head[0]!;
  if (!knownVersions.has(version)) return `its first byte, ${version}, is not a dBASE version`;
  const headerBytes = head.readUInt16LE(8);
  const recordBytes = head.readUInt16LE(10);
  if (headerBytes < 33) return `a header of ${headerBytes} bytes is too short to describe a column`;
  if (headerBytes > fileBytes) return `the header length is ${headerBytes} bytes, but the file has ${fileBytes}`;
  if (recordBytes < 1) return "its record length is 0";
  let wider = 0;
  for (const layout of [dbase3Layout, clipperLayout, dbase7Layout]) {
    const found = readColumns(head, headerBytes, layout);
    if (!found) continue;
    const exact = found.bytes === recordBytes;
    const empty = found.columns.length === 0;
    // Another layout that finds no column does not refute a layout that found some.
    if (empty && wider > 1) continue;
    if (!exact && (layout !== dbase3Layout || found.bytes > recordBytes || empty)) {
      wider = Math.max(wider, found.bytes);
      continue;
    }
    if (!exact && fitsOtherLayout(head, headerBytes, recordBytes)) continue;
    return {
      version,
      records: head.readUInt32LE(4),
      headerBytes,
      recordBytes,
      languageByte: head[29]!,
      columns: found.columns,
      nullFlagsOffset: found.nullFlagsOffset,
      dbase7: layout === dbase7Layout,
    };
  }
  if (wider <= 1) return "its header describes no column";
  return `its columns take ${wider} bytes, but its records have ${recordBytes}`;
}

const fitsOtherLayout = (head: Buffer, headerBytes: number, recordBytes: number) =>
  [clipperLayout, dbase7Layout].some((layout) => readColumns(head, headerBytes, layout)?.bytes === recordBytes);
