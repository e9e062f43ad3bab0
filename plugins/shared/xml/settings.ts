import type { ReadContext } from "../../../src/plugin/format.js";
import type { XmlVocabulary } from "./names.js";

/** Where a reader can begin that is not to read the whole document. Plain data. */
export interface XmlPosition {
  /** Where the tag of a child begins, from the start of the file. */
  readonly byte: number;
  readonly encoding: string;
  /** The names of the elements that are open there, with their prefixes. */
  readonly open: readonly string[];
  /** The prefixes in force there, and what they stand for. */
  readonly namespaces: readonly (readonly [string, string])[];
  readonly doctype: string;
}

export interface XmlReaderSettings {
  /** The name of the source, for messages. */
  readonly source: string;
  readonly context: Pick<ReadContext, "getTextDecoder" | "reportNotice" | "signal" | "skipErrors">;
  readonly vocabulary: XmlVocabulary;
  /** Where to begin; absent: at the beginning, which finds the encoding. */
  readonly start?: XmlPosition;
  /**
   * Where to end, in bytes of the file, between two children of what is open at `start`; absent: at the end of the file,
   * where what is open at `start` has to be closed.
   */
  readonly to?: number;
  /** What stands between `start` and `to`, in UTF-8, where that has been read already. */
  readonly fetched?: Buffer | undefined;
  /** Elements open at `start` may end, and `to` may stand before any tag: other elements may be open there. */
  readonly leaves?: boolean;
  /** Bytes asked of the file at once; absent: a MiB. */
  readonly pieceSize?: number;
  /** False: read every record tag by tag, without templates. */
  readonly templates?: boolean;
}

/** How a document is read, whatever is in it. */
export type XmlReaderTuning = Pick<XmlReaderSettings, "pieceSize" | "templates">;
