import fc from "fast-check";
import { SaxesParser } from "saxes";
import { describe, expect, test } from "vitest";
import { XmlReader, XmlToken } from "../../../../plugins/shared/xml/reader.js";
import { RecordingContext } from "../../../../src/testing/recording-context.js";
import { readXmlEvents, sourceFileOf } from "./read-xml.js";

/** Reads the tokens of a document with saxes, in the same form. */
function bySaxes(document: string): string[] {
  const events: string[] = [];
  let text = "";
  const parser = new SaxesParser({ xmlns: false, position: false });
  const flush = () => {
    if (text.trim() !== "") events.push(text.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, ""));
    text = "";
  };
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("text", (found) => (text += found));
  parser.on("cdata", (found) => (text += found));
  parser.on("opentag", ({ name, attributes }) => {
    flush();
    const list = Object.entries(attributes).map(([key, value]) => ` ${key}="${value}"`);
    events.push(`<${name}${list.join("")}>`);
  });
  parser.on("closetag", ({ name }) => {
    flush();
    events.push(`</${name}>`);
  });
  parser.write(document).close();
  return events;
}

const name = fc.constantFrom("a", "trkpt", "x:b", "Größe", "_c-1.d", "名前");
const piece = fc.oneof(
  fc.string({
    unit: fc.constantFrom("x", " ", "\n", "\r", "\r\n", "ä", "😀", "]", "&amp;", "&#228;", "&#x1F600;", "&lt;"),
  }),
  fc.constantFrom("<!-- a > b -->", "<![CDATA[<a> & ]] ]]>", "<?pi some > thing?>", "<![CDATA[]]>"),
);
const attributes = fc
  .uniqueArray(
    fc.tuple(
      fc.constantFrom("lat", "lon", "x:y", "ä"),
      fc.string({ unit: fc.constantFrom("1", "-", " ", "ö", "&quot;", ">", "/", "\n", "&#9;") }),
      fc.constantFrom(`"`, "'"),
    ),
    { selector: ([key]) => key },
  )
  .map((list) => list.map(([key, value, quote]) => ` ${key} = ${quote}${value}${quote}`).join(""));
const { element } = fc.letrec<{ element: string }>((tie) => ({
  element: fc
    .tuple(name, attributes, fc.array(fc.oneof({ depthSize: "small" }, piece, tie("element")), { maxLength: 5 }))
    .map(([tag, list, children]) =>
      children.length === 0 ? `<${tag}${list}/>` : `<${tag}${list}\n>${children.join("")}</${tag} >`,
    ),
}));

describe("a document", () => {
  test("gives the events of saxes, wherever its bytes are cut", async () => {
    await fc.assert(
      fc.asyncProperty(element, fc.integer({ min: 1, max: 40 }), async (root, blockSize) => {
        const document = `<?xml version="1.0"?>\n<!DOCTYPE a [<!-- ]> -->]>${root}\n<!-- end -->`;
        expect(await readXmlEvents(document, { blockSize })).toEqual(bySaxes(document));
      }),
      { numRuns: 500 },
    );
  });

  test("of similar features gives the events of saxes, also for an exception", async () => {
    const tag = fc.constantFrom(
      '<b k="x">',
      '<b k="y">',
      '<b k="x" >',
      "<b k='x'>",
      '<b k="x" l="1">',
      '<b k="x>">',
      '<b k="x&amp;">',
      "<b>",
      '<bb k="x">',
    );
    const child = fc.oneof(
      { weight: 3, arbitrary: fc.constant('<b k="x">1</b><c/><b k="y">2</b>') },
      { weight: 1, arbitrary: tag.map((open) => `${open}3</${open.startsWith("<bb") ? "bb" : "b"}>`) },
      { weight: 1, arbitrary: fc.constantFrom("<c></c>", '<b k="x"/>', "<c k='x'/>") },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(child, { maxLength: 12 }),
        fc.integer({ min: 1, max: 60 }),
        async (parts, blockSize) => {
          const document = `<a>${parts.map((inner) => `\n  <f>${inner}</f>`).join("")}</a>`;
          expect(await readXmlEvents(document, { blockSize })).toEqual(bySaxes(document));
        },
      ),
      { numRuns: 300 },
    );
  });

  test("can have any number of different tags", async () => {
    const names = Array.from({ length: 5000 }, (_, i) => `n${i}`);
    const twice = [...names, ...names];
    const events = await readXmlEvents(`<a>${twice.map((name) => `<${name} i="${name}"/>`).join("")}</a>`);
    expect(events.slice(1, -1)).toEqual(twice.flatMap((name) => [`<${name} i="${name}">`, `</${name}>`]));
  });

  test.each([
    ["a reference", "&amp;", "&"],
    ["a line end of two characters", "\r\n", "\n"],
    ["a character that XML does not allow", "\u0001", ""],
  ])("decodes %s anywhere in a long text", async (_, written, meant) => {
    for (const before of [0, 62, 63, 64, 65, 200]) {
      const text = `<a>${"x".repeat(before)}${written}y</a>`;
      expect(await readXmlEvents(text)).toEqual(["<a>", `${"x".repeat(before)}${meant}y`.trim(), "</a>"]);
    }
  });

  test.each([
    ["utf-16le", (text: string) => Buffer.from(`\ufeff${text}`, "utf16le")],
    ["utf-16be", (text: string) => Buffer.from(`\ufeff${text}`, "utf16le").swap16()],
    ["utf-16le without a mark", (text: string) => Buffer.from(text, "utf16le")],
    ["utf-8 with a mark", (text: string) => Buffer.from(`\ufeff${text}`)],
    ["blank lines first", (text: string) => Buffer.from(`\n\n ${text}`)],
  ])("is read in %s", async (_, encode) => {
    const document = `<?xml version="1.0" encoding="UTF-16"?><a ö="ä">Grüße 😀</a>`;
    const bytes = encode(document);
    for (const blockSize of [bytes.length, 5, 6, 7, 8]) {
      expect(await readXmlEvents(bytes, { blockSize })).toEqual(['<a ö="ä">', "Grüße 😀", "</a>"]);
    }
  });

  test.each(["ISO-8859-1", "windows-1252"])("is read in %s", async (encoding) => {
    const bytes = Buffer.from(`<?xml version='1.0' encoding='${encoding}'?><a>caf\xe9</a>`, "latin1");
    expect(await readXmlEvents(bytes)).toEqual(["<a>", "café", "</a>"]);
  });

  test("in an unknown encoding is refused", async () => {
    const document = `<?xml version="1.0" encoding="klingon"?><a/>`;
    await expect(readXmlEvents(document)).rejects.toThrow(/a\.xml: its declared encoding "klingon"/);
  });

  test("can use undeclared prefixes", async () => {
    const reader = new XmlReader(sourceFileOf(Buffer.from(`<x:a xmlns:y="urn:y"><y:b/><c xmlns="urn:c"/></x:a>`)), {
      source: "a.xml",
      context: new RecordingContext(),
      vocabulary: { b: 7 },
    });
    const found: unknown[] = [];
    for (let token = reader.next(); token !== XmlToken.end; token = reader.next()) {
      if (token === XmlToken.more) await reader.fill();
      else if (token === XmlToken.open) found.push([reader.name.local, reader.name.code, reader.namespace()]);
    }
    expect(found).toEqual([
      ["a", 0, null],
      ["b", 7, "urn:y"],
      ["c", 0, "urn:c"],
    ]);
  });
});

describe("a flaw that leaves the meaning clear", () => {
  test.each([
    ["bare-ampersand", "<a>AT&T & more</a>", "AT&T & more", 2],
    ["entity-unknown", "<a>one&nbsp;two</a>", "one&nbsp;two", 1],
    ["control-character", "<a>o\u0001ne&#2;</a>", "one", 2],
    ["invalid-utf8", Buffer.from("<a>caf\xe9!</a>", "latin1"), "caf\ufffd!", 1],
    ["attribute-repeated", "<a x='1' x='2'>t</a>", "t", 1],
  ])("is repaired and reported: %s", async (code, document, text, count) => {
    const context = new RecordingContext();
    expect((await readXmlEvents(document, {}, context))[1]).toBe(text);
    expect(code === "invalid-utf8" ? context.losses : context.notices).toMatchObject([{ code, count }]);
  });
});

describe("damage is reported with its line and byte", () => {
  test.each([
    ["<a>\n<b></c>\n</a>", "input-corrupt", 2, 7, "</c> where </b> is expected"],
    ["<a>\n<b lat=5/></a>", "input-corrupt", 2, 11, "an attribute's value has to be in quotes"],
    ["<a>1 < 2</a>", "input-corrupt", 1, 5, '"<" that begins no tag; in text, write &lt;'],
    ["<a/>\n<b/>", "input-corrupt", 2, 5, "a second root element"],
    ["<a></a></a>", "input-corrupt", 1, 7, "the end of an element that did not begin"],
    ["hello", "input-corrupt", 1, 0, "text outside the root element"],
    ["<a>\n\n<b>text", "input-truncated", 3, 12, "<b> is not closed"],
    ["<a>\n<b lat='1", "input-truncated", 2, 13, "a tag is not closed"],
    ["<a><!-- and", "input-truncated", 1, 11, "a comment is not closed"],
    ["<a><![CDATA[ and", "input-truncated", 1, 16, "a CDATA section is not closed"],
    ["\n\n", "input-corrupt", 3, 2, "there is no element in it"],
  ])("the damage in %j is reported with its line and byte", async (document, code, line, byte, reason) => {
    for (const blockSize of [1000, 1, 3]) {
      const error = await readXmlEvents(document, { blockSize }).catch((thrown) => thrown);
      expect(error).toMatchObject({ code, details: { place: { line, byte }, reason } });
    }
  });

  test("also in a document that is not UTF-8", async () => {
    const bytes = Buffer.from(`\ufeff<ä>\n<b></c>`, "utf16le");
    await expect(readXmlEvents(bytes)).rejects.toMatchObject({ details: { place: { line: 2, byte: 16 } } });
  });

  test("and skipped with skipErrors, after the tokens before it", async () => {
    const context = new RecordingContext(true);
    expect(await readXmlEvents("<a><b>1</b><b>2</c></a>", {}, context)).toEqual([
      "<a>",
      "<b>",
      "1",
      "</b>",
      "<b>",
      "2",
    ]);
  });
});

describe("an attack", () => {
  const laughs = Array.from({ length: 9 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join("");

  test.each([
    ["of nested entities", `<!DOCTYPE a [<!ENTITY l0 "ha">${laughs}]><a>&l9;</a>`, /stands for tags or other entities/],
    ["of one long entity", `<!DOCTYPE a [<!ENTITY l "${"x".repeat(1000)}">]><a>&l;</a>`, /more than 256 characters/],
    ["of many references", `<!DOCTYPE a [<!ENTITY l "${"x".repeat(250)}">]><a>${"&l;".repeat(5000)}</a>`, /too large/],
    ["by an external entity", `<!DOCTYPE a [<!ENTITY l SYSTEM "file:///etc/passwd">]><a>&l;</a>`, /nothing is fetched/],
    [
      "by a public entity",
      `<!DOCTYPE a [<!ENTITY l PUBLIC "x" "http://localhost/">]><a b="&l;"/>`,
      /nothing is fetched/,
    ],
    ["by depth", "<a>".repeat(600), /nested more than 512 deep/],
    [
      "by attributes",
      `<a ${Array.from({ length: 5000 }, (_, i) => `x${i}="1"`).join(" ")}/>`,
      /more than 4096 attributes/,
    ],
    ["by the document type", `<!DOCTYPE a [${"<!-- -->".repeat(10_000)}]><a/>`, /document type of more than 65536/],
  ])("%s is refused", async (_, document, reason) => {
    await expect(readXmlEvents(document)).rejects.toThrow(reason);
  });

  test("does not prevent small declared entities", async () => {
    const document = `<!DOCTYPE a [<!ENTITY deg "&#176;"><!ENTITY who 'it''>]><a b="4&deg;">5&deg;</a>`;
    expect(await readXmlEvents(document.replace("it'", "it"))).toEqual(['<a b="4°">', "5°", "</a>"]);
  });
});

describe("a declared entity", () => {
  const entity = (literal: string) => `<!DOCTYPE a [<!ENTITY e "${literal}">]><a b="&e;">&e;</a>`;

  // XML 1.0, section 4.6 and appendix D; xmllint --noent agrees.
  test.each([
    ["AT&amp;T", "AT&T"],
    ["AT&#38;amp;T", "AT&T"],
    ["&amp;amp;", "&amp;"],
    ["a &lt; b &gt; c &quot;d&apos;", "a < b > c \"d'"],
    ["caf&#233; &#38;#233;", "café é"],
    ["&#38;#38;#60;", "&#60;"],
    ["&#38;#60;", "<"],
  ])("with the literal %s has the text %s", async (literal, text) => {
    const [open, inner] = await readXmlEvents(entity(literal));
    expect([open, inner]).toEqual([`<a b="${text}">`, text]);
  });

  test.each(["AT&#38;T", "&#60;b/>", "<b/>", "&other;", "&#38;other;", "&#38;#0;", "100%"])(
    "%s is refused",
    async (literal) => {
      await expect(readXmlEvents(entity(literal))).rejects.toThrow(/stands for tags or other entities/);
    },
  );

  test("with predefined references has the same limits", async () => {
    const long = `<!DOCTYPE a [<!ENTITY l "${"&amp;".repeat(60)}">]><a>&l;</a>`;
    await expect(readXmlEvents(long)).rejects.toThrow(/more than 256 characters/);
    const many = `<!DOCTYPE a [<!ENTITY l "${"&amp;".repeat(50)}">]><a>${"&l;".repeat(25_000)}</a>`;
    await expect(readXmlEvents(many)).rejects.toThrow(/too large/);
  });
});

test("a reader can begin at any child and end before another", async () => {
  const document = `<?xml version="1.0"?><r xmlns:p="urn:p"><a>1</a><p:b>2</p:b>\n<c>3</c></r>`;
  const first = new XmlReader(sourceFileOf(Buffer.from(document)), {
    source: "",
    context: new RecordingContext(),
    vocabulary: {},
  });
  const children: number[] = [];
  let start = first.childStart();
  for (let token = first.next(); token !== XmlToken.end; token = first.next()) {
    if (token === XmlToken.more) await first.fill();
    if (token === XmlToken.open && first.depth === 1) start = first.childStart();
    if (token === XmlToken.open && first.depth === 2) children.push(first.byte);
  }
  expect(children).toEqual(["<a>", "<p:b>", "<c>"].map((tag) => document.indexOf(tag)));
  const settings = { start: { ...start, byte: children[1]! }, to: children[2]! };
  expect(await readXmlEvents(document, settings)).toEqual(["<p:b>", "2", "</p:b>"]);
});
