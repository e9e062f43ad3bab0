import type { ReadContext } from "../../../src/plugin/format.js";
import { XmlReader, XmlToken, type XmlVocabulary } from "../../shared/xml/reader.js";
import type { ZipEntryFile } from "../../shared/zip/zip-reader.js";

/** What is done with the tokens of a document. */
export interface XmlVisitor {
  open?(reader: XmlReader): void;
  close?(reader: XmlReader): void;
  text?(reader: XmlReader): void;
  /** Called between blocks of the document. */
  pause?(): Promise<void>;
}

/** Reads an entry from its beginning to its end. @throws input-corrupt, input-truncated */
export async function walkXml(
  file: ZipEntryFile,
  vocabulary: XmlVocabulary,
  context: ReadContext,
  visitor: XmlVisitor,
): Promise<void> {
  // A part of a sheet would be taken for the whole.
  const reader = new XmlReader(file, { source: file.name, context: readerContext(context), vocabulary });
  try {
    for (;;) {
      const token = reader.next();
      if (token === XmlToken.end) return;
      if (token === XmlToken.more) {
        await visitor.pause?.();
        await reader.fill();
      } else if (token === XmlToken.open) visitor.open?.(reader);
      else if (token === XmlToken.close) visitor.close?.(reader);
      else if (token === XmlToken.text) visitor.text?.(reader);
    }
  } finally {
    reader.report();
    await file.close();
  }
}

const readerContext = (context: ReadContext) => ({
  getTextDecoder: (encoding: string) => context.getTextDecoder(encoding),
  reportLoss: context.reportLoss.bind(context),
  reportNotice: context.reportNotice.bind(context),
  signal: context.signal,
  skipErrors: false,
});
