import { XmlReader, type XmlReaderSettings, XmlToken } from "../../../../plugins/shared/xml/reader.js";
import type { SourceFile } from "../../../../src/plugin/format.js";
import { RecordingContext } from "../../../../src/testing/recording-context.js";

/** A file in memory. */
export function sourceFileOf(bytes: Buffer): SourceFile {
  const close = async () => {};
  return {
    size: bytes.length,
    read: async (position, length) => Buffer.from(bytes.subarray(position, position + length)),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Reads the tokens, one per line: `<name a="1">`, `text`, `</name>`. Consecutive texts are joined. */
export async function readXmlEvents(
  document: string | Buffer,
  settings: Partial<XmlReaderSettings> = {},
  context = new RecordingContext(),
): Promise<string[]> {
  const file = sourceFileOf(Buffer.from(document));
  const reader = new XmlReader(file, { source: "a.xml", context, vocabulary: {}, ...settings });
  const events: string[] = [];
  let open = false;
  for (;;) {
    const token = reader.next();
    if (token === XmlToken.more) await reader.fill();
    else if (token === XmlToken.text) {
      if (!open) reader.content.clear();
      open = true;
      reader.collect();
    } else {
      if (open && reader.content.text() !== "") events.push(reader.content.text());
      open = false;
      if (token === XmlToken.end) break;
      if (token === XmlToken.open) events.push(`<${reader.name.text}${attributesOf(reader)}>`);
      else events.push(`</${reader.name.text}>`);
    }
  }
  reader.report();
  return events;
}

function attributesOf(reader: XmlReader): string {
  let text = "";
  for (let a = 0; a < reader.attributes.count; a++)
    text += ` ${reader.attributes.names[a]!.text}="${reader.attributes.value(a)}"`;
  return text;
}
