import type { ReadContext } from "../../../src/plugin/format.js";
import type { XmlVocabulary } from "./names.js";

/** A position where a reader can begin in the middle of a document. Plain data. */
export interface XmlPosition {
  /** The start of a child's tag, in bytes from the start of the file. */
  readonly byte: number;
  readonly encoding: string;
  /** The names of the open elements, with their prefixes. */
  readonly open: readonly string[];
  /** The prefixes in scope, and their namespaces. */
  readonly namespaces: readonly (readonly [string, string])[];
  readonly doctype: string;
}

export interface XmlReaderSettings {
  /** The name of the source, for messages. */
  readonly source: string;
  readonly context: Pick<ReadContext, "getTextDecoder" | "reportLoss" | "reportNotice" | "signal" | "skipErrors">;
  readonly vocabulary: XmlVocabulary;
  /** Where to begin; by default at the beginning of the file, where the encoding is detected. */
  readonly start?: XmlPosition;
  /**
   * Where to end, in bytes of the file, between two children of the innermost element that is open at `start`. By default
   * at the end of the file, where the elements open at `start` have to be closed.
   */
  readonly to?: number;
  /** The bytes between `start` and `to`, in UTF-8, where they have been read already. */
  readonly fetched?: Buffer | undefined;
  /** Whether elements open at `start` may end before `to`, and `to` may be before any tag. */
  readonly leaves?: boolean;
  /** Bytes per read; 1 MiB by default. */
  readonly blockSize?: number;
  /** False: read every record tag by tag, without templates. */
  readonly templates?: boolean;
}

/** Settings that do not depend on the document. */
export type XmlReaderTuning = Pick<XmlReaderSettings, "blockSize" | "templates">;
