/** Reads the pages of a column chunk one after the other, in constant memory. */
import { crc32 } from "node:zlib";
import { parquetHeader } from "hyparquet/src/column.js";
import type { SourceFile } from "../../../src/plugin/index.js";
import { dataViewOf } from "../../shared/text/data-view.js";
import { decompress, UnsupportedParquet } from "./codecs.js";
import { bitWidth, readHybrid } from "./rle.js";
import type { Leaf } from "./schema.js";
import { countValues, readPlain, readValues, type Values } from "./values.js";

/** Where the chunk of a column in a row group is, as plain data. */
export interface ChunkPlace {
  readonly codec: string;
  readonly from: number;
  readonly to: number;
  /** Values with nulls. */
  readonly count: number;
}

/** Levels and values of a data page. */
export interface Page {
  /** Number of levels: rows, or values of lists. */
  readonly entries: number;
  /** Null if all entries have values. */
  readonly definitions: Uint8Array | null;
  /** Null in a column without lists. */
  readonly repetitions: Uint8Array | null;
  readonly values: Values;
}

type Header = ReturnType<typeof parquetHeader>;

const firstWindow = 1 << 10;
const readAhead = 1 << 18;
const maxHeaderBytes = 1 << 24;
/** Larger pages are refused, and more values are taken for damage. */
const maxPageBytes = 2 ** 30;
const maxPageEntries = 2 ** 27;

/** Old versions of parquet-mr do not count the header of a dictionary (PARQUET-816), as other readers know, too. */
const uncountedBytes = 100;

/** A page was expected, but the chunk ended. */
export class ChunkEnded extends Error {}

export class ColumnPages {
  /** Bytes of the file from `windowStart`. */
  private window: Buffer = Buffer.alloc(0);
  private windowStart = 0;
  private at: number;
  private dictionary: Values | null = null;
  private seen = 0;

  constructor(
    private readonly file: SourceFile,
    private readonly leaf: Leaf,
    private readonly place: ChunkPlace,
  ) {
    this.at = place.from;
    this.windowStart = place.from;
  }

  /** The bytes `at … at + size`, fewer at the end of the chunk. */
  private async bytes(size: number): Promise<Buffer> {
    const { place } = this;
    const start = this.at - this.windowStart;
    if (start >= 0 && start + size <= this.window.length) return this.window.subarray(start, start + size);
    const length = Math.min(Math.max(size, readAhead), place.to + uncountedBytes - this.at);
    if (length <= 0) return Buffer.alloc(0);
    this.window = await this.file.read(this.at, length);
    this.windowStart = this.at;
    return this.window.subarray(0, Math.min(size, this.window.length));
  }

  /** Reads the header of the next page, and moves to its content; null at the end of the chunk. */
  private async header(): Promise<Header | null> {
    if (this.seen >= this.place.count || this.at >= this.place.to) return null;
    for (let size = firstWindow; ; size *= 8) {
      const bytes = await this.bytes(size);
      const reader = { view: dataViewOf(bytes), offset: 0 };
      try {
        const header = parquetHeader(reader);
        this.at += reader.offset;
        return header;
      } catch (error) {
        const isWhole = bytes.length < size || size >= maxHeaderBytes;
        if (isWhole || !(error instanceof Error)) throw error;
      }
    }
  }

  private async content(header: Header): Promise<Buffer> {
    const { compressed_page_size: size, uncompressed_page_size: wanted } = header;
    if (!(size >= 0 && wanted >= 0)) throw new Error("the size of a page is wrong");
    if (wanted > maxPageBytes) throw new UnsupportedParquet(`a page of ${wanted} bytes`);
    const bytes = await this.bytes(size);
    if (bytes.length < size) throw new ChunkEnded("the column ends within a page");
    this.at += size;
    if (header.crc !== undefined && crc32(bytes) !== header.crc >>> 0)
      throw new Error("the checksum of a page does not match");
    return bytes;
  }

  private entriesOf(header: Header): number {
    const entries = header.data_page_header?.num_values ?? header.data_page_header_v2?.num_values ?? 0;
    if (!(entries >= 0 && entries <= maxPageEntries && this.seen + entries <= this.place.count))
      throw new Error("a page has more values than its column");
    this.seen += entries;
    return entries;
  }

  /** The next page of data; null at the end of the chunk. @throws Error if the page is damaged */
  async next(): Promise<Page | null> {
    for (;;) {
      const header = await this.header();
      if (!header) return null;
      const content = await this.content(header);
      if (header.type === "DICTIONARY_PAGE") this.readDictionary(header, content);
      else if (header.type === "DATA_PAGE") return this.readPage(header, content);
      else if (header.type === "DATA_PAGE_V2") return this.readPageV2(header, content);
      else if (header.type !== "INDEX_PAGE") throw new Error("a page has an unknown type");
    }
  }

  /** The entries of the first page of data, without reading it. Does not move. */
  async firstPageEntries(): Promise<number> {
    const { at, seen } = this;
    try {
      for (;;) {
        const header = await this.header();
        if (!header) return 0;
        if (header.type === "DATA_PAGE" || header.type === "DATA_PAGE_V2") return this.entriesOf(header);
        if (!(header.compressed_page_size >= 0)) throw new Error("the size of a page is wrong");
        this.at += header.compressed_page_size;
      }
    } finally {
      this.at = at;
      this.seen = seen;
    }
  }

  /**
   * Skips pages of a column without lists as long as they have at most `rows` rows.
   * @returns the rows skipped
   */
  async skip(rows: number): Promise<number> {
    let skipped = 0;
    while (skipped < rows) {
      const before = this.at;
      const seen = this.seen;
      const header = await this.header();
      if (!header) break;
      if (header.type === "DATA_PAGE" || header.type === "DATA_PAGE_V2") {
        const entries = this.entriesOf(header);
        if (skipped + entries > rows) {
          this.at = before;
          this.seen = seen;
          break;
        }
        skipped += entries;
        if (!(header.compressed_page_size >= 0)) throw new Error("the size of a page is wrong");
        this.at += header.compressed_page_size;
      } else {
        const content = await this.content(header);
        if (header.type === "DICTIONARY_PAGE") this.readDictionary(header, content);
      }
    }
    return skipped;
  }

  private expand(bytes: Uint8Array, size: number): Uint8Array {
    if (!(size >= 0)) throw new Error("the size of a page is wrong");
    const page = decompress(this.place.codec, bytes, size);
    if (page.length !== size) throw new Error("a page has another size than its header says");
    return page;
  }

  private readDictionary(header: Header, content: Buffer): void {
    const count = header.dictionary_page_header?.num_values ?? -1;
    if (!(count >= 0 && count <= maxPageEntries)) throw new Error("the dictionary has no size");
    const page = this.expand(content, header.uncompressed_page_size);
    // The window of the file is overwritten by the next read.
    this.dictionary = readPlain(this.leaf, page === content ? Uint8Array.from(page) : page, count);
  }

  private readPage(header: Header, content: Buffer): Page {
    const data = header.data_page_header;
    if (!data) throw new Error("a page has no header of its type");
    const entries = this.entriesOf(header);
    const page = this.expand(content, header.uncompressed_page_size);
    const { maxRepetition, maxDefinition } = this.leaf;
    let at = 0;
    const levels = (highest: number): Uint8Array | null => {
      if (highest === 0) return null;
      if (at + 4 > page.length) throw new Error("a page is shorter than its levels");
      const size = dataViewOf(page).getUint32(at, true);
      const from = at + 4;
      at = from + size;
      if (at > page.length) throw new Error("a page is shorter than its levels");
      return readLevels(page, from, at, highest, entries);
    };
    const repetitions = levels(maxRepetition);
    const definitions = levels(maxDefinition);
    return this.finish(entries, repetitions, definitions, data.encoding, page.subarray(at));
  }

  private readPageV2(header: Header, content: Buffer): Page {
    const data = header.data_page_header_v2;
    if (!data) throw new Error("a page has no header of its type");
    const entries = this.entriesOf(header);
    const { repetition_levels_byte_length: repetitionBytes, definition_levels_byte_length: definitionBytes } = data;
    const start = repetitionBytes + definitionBytes;
    if (!(repetitionBytes >= 0 && definitionBytes >= 0 && start <= content.length))
      throw new Error("a page is shorter than its levels");
    const { maxRepetition, maxDefinition } = this.leaf;
    const repetitions = maxRepetition ? readLevels(content, 0, repetitionBytes, maxRepetition, entries) : null;
    const definitions = maxDefinition ? readLevels(content, repetitionBytes, start, maxDefinition, entries) : null;
    const body = content.subarray(start);
    const page = data.is_compressed === false ? body : this.expand(body, header.uncompressed_page_size - start);
    return this.finish(entries, repetitions, definitions, data.encoding, page);
  }

  private finish(
    entries: number,
    repetitions: Uint8Array | null,
    definitions: Uint8Array | null,
    encoding: string,
    page: Uint8Array,
  ): Page {
    const { maxDefinition } = this.leaf;
    let count = entries;
    if (definitions) {
      count = 0;
      for (let i = 0; i < entries; i++) if (definitions[i] === maxDefinition) count++;
    }
    const values = readValues(this.leaf, encoding, page, count, this.dictionary);
    if (countValues(values) !== count) throw new Error("a page has fewer values than it should");
    return { entries, definitions: count === entries ? null : definitions, repetitions, values };
  }
}

function readLevels(page: Uint8Array, from: number, to: number, highest: number, entries: number): Uint8Array {
  const levels = new Uint8Array(entries);
  const only = readHybrid(page, from, to, bitWidth(highest), entries, levels);
  if (only < 0) for (let i = 0; i < entries; i++) if (levels[i]! > highest) throw new Error("a level is out of range");
  if (only > highest) throw new Error("a level is out of range");
  return levels;
}
