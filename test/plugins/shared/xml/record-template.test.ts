import { describe, expect, test } from "vitest";
import { XmlRecordTemplate } from "../../../../plugins/shared/xml/record-template.js";

/** Records a unit like a reader that uses the text of each element without children, and each `id`. */
function learn(template: XmlRecordTemplate<string>, unit: string): void {
  const bytes = Buffer.from(unit);
  template.begin(0);
  // Latin-1, so that positions in the text are positions in the bytes.
  for (const match of bytes.toString("latin1").matchAll(/ id="([^"]*)"|<(\w+)[^<>]*>([^<]*)<\/\2>/g)) {
    const [whole, id, name, text] = match;
    const from = match.index + (name ? whole.length - text!.length - name.length - 3 : 5);
    template.draft?.text(name ?? "id", from, from + (name ? text! : id!).length);
  }
  template.end(bytes, bytes.length);
}

/** Returns the texts of a unit by a template; null where it does not match. */
function texts(template: XmlRecordTemplate<string>, unit: string, before = ""): string[] | null {
  const bytes = Buffer.from(`${before}${unit}<next>`);
  const from = Buffer.byteLength(before);
  const end = template.match(bytes, from, bytes.length);
  if (end < 0) return null;
  expect(end).toBe(from + Buffer.byteLength(unit));
  return Array.from({ length: template.count }, (_, n) => {
    const text = bytes.toString("utf8", template.from[n]!, template.to[n]!);
    return `${template.actions[n]!}=${text}`;
  });
}

function templateOf(...units: string[]): XmlRecordTemplate<string> {
  const template = new XmlRecordTemplate<string>();
  for (const unit of units) learn(template, unit);
  return template;
}

const unit = (name: string, kind: string) => `<f>\n\t<name>${name}</name>\n\t<kind>${kind}</kind>\n</f>`;

describe("a template", () => {
  test("finds the texts of a similar record, without white space around them", () => {
    const template = templateOf(unit("a", "b"));
    expect(texts(template, unit("\n Łódź  1 ", ""))).toEqual(["name=Łódź  1", "kind="]);
    expect(texts(template, unit("x".repeat(3000), "y"), "\n<e/>")).toEqual([`name=${"x".repeat(3000)}`, "kind=y"]);
  });

  test.each([
    ["a reference", unit("a &amp; b", "c")],
    ["a CDATA section", unit("<![CDATA[a]]>", "c")],
    ["a comment", unit("a<!-- b -->", "c")],
    ["an element", unit("<b>a</b>", "c")],
    ["a carriage return", unit("a\r\nb", "c")],
    ["a control character", unit("a\u0001", "c")],
    ["other white space", "<f>\n\t<name>a</name>\n\t\t<kind>b</kind>\n</f>"],
    ["another name", "<f>\n\t<name>a</name>\n\t<kine>b</kine>\n</f>"],
    ["another end", "<f>\n\t<name>a</name>\n\t<kind>b</kind>\n</g>"],
    ["a name that goes on", "<f>\n\t<name>a</name>\n\t<kind>b</kinder>\n</f>"],
  ])("does not match %s", (_, other) => {
    expect(texts(templateOf(unit("a", "b")), other)).toBeNull();
  });

  test("does not match a record that is cut off", () => {
    const template = templateOf(unit("a", "b"));
    const bytes = Buffer.from(unit("cd", "ef"));
    for (let end = 0; end < bytes.length; end++) expect(template.match(bytes, 0, end)).toBe(-1);
    expect(template.match(bytes, 0, bytes.length)).toBe(bytes.length);
  });

  test("combines the runs of several records", () => {
    const of = (...names: string[]) => `<f>${names.map((name) => `<${name}>1</${name}>`).join("")}</f>`;
    const template = templateOf(of("a", "b", "c", "d"), of("a", "c", "d"), of("a", "b", "c"));
    expect(texts(template, of("a", "c"))).toEqual(["a=1", "c=1"]);
    expect(texts(template, of("a", "b", "c", "d"))).toEqual(["a=1", "b=1", "c=1", "d=1"]);
    expect(texts(template, of("b", "c"))).toBeNull();
  });

  test("distinguishes elements of one name by their parents", () => {
    const template = templateOf("<f><a><x>1</x></a><b><x>2</x></b></f>", "<f><a><x>1</x></a></f>");
    expect(texts(template, "<f><a><x>5</x></a></f>")).toEqual(["x=5"]);
    expect(texts(template, "<f><a><x>5</x></b></f>")).toBeNull();
  });

  test("has slots for attributes", () => {
    const template = templateOf('<f id="1" a="b>c"><x>1</x></f>');
    expect(texts(template, '<f id="it\'s" a="b>c"><x>y</x></f>')).toBeNull();
    expect(texts(template, '<f id="" a="b>c"><x>y</x></f>')).toEqual(["id=", "x=y"]);
    expect(texts(template, '<f id="a&lt;" a="b>c"><x>y</x></f>')).toBeNull();
    expect(texts(template, '<f id="2\t3" a="b>c"><x>y</x></f>')).toBeNull();
    expect(texts(template, '<f id="2"><x>y</x></f>')).toBeNull();
  });

  test("finds texts in CDATA sections, with the white space in them", () => {
    const of = (text: string) => `<f><x>${text}</x><y>1</y></f>`;
    const template = new XmlRecordTemplate<string>();
    for (const text of ["<![CDATA[<b>a</b>]]>", "plain"]) {
      const bytes = Buffer.from(of(text));
      template.begin(0);
      template.draft!.text("x", 6, 6 + text.length);
      template.draft!.text("y", 13 + text.length, 14 + text.length);
      template.end(bytes, bytes.length);
    }
    expect(texts(template, of("<![CDATA[ <i>&amp; ]]]]>"))).toEqual(["x= <i>&amp; ]]", "y=1"]);
    expect(texts(template, of("<![CDATA[]]>"))).toEqual(["x=", "y=1"]);
    expect(texts(template, of(" plain ]]> "))).toEqual(["x=plain ]]>", "y=1"]);
    for (const odd of [
      "<![CDATA[a\rb]]>",
      "<![CDATA[a\u0001]]>",
      "<![CDATA[a]]>b",
      "a<![CDATA[b]]>",
      " <![CDATA[a]]>",
    ]) {
      expect(texts(template, of(odd))).toBeNull();
    }
  });

  test.each([
    ["references in tags", '<f a="&amp;"><x>1</x></f>'],
    ["white space in a value", '<f a="b\nc"><x>1</x></f>'],
    ["an attribute twice", '<f a="b" a="c"><x>1</x></f>'],
    ["namespaces", '<f xmlns:a="b"><x>1</x></f>'],
    ["comments", "<f><!-- c --><x>1</x></f>"],
    ["instructions", "<f><?i?><x>1</x></f>"],
  ])("is not learned from %s", (_, odd) => {
    expect(texts(templateOf(odd), odd)).toBeNull();
  });

  test("keeps the actions of tags in order", () => {
    const template = new XmlRecordTemplate<string>();
    const bytes = Buffer.from("<f><a/><x>1</x></f>");
    template.begin(0);
    template.draft!.text("a", 7, 3);
    template.draft!.tag("inside");
    template.draft!.text("x", 10, 11);
    template.draft!.tag("end");
    template.end(bytes, bytes.length);
    expect(texts(template, "<f><a/><x>2</x></f>")).toEqual(["a=", "inside=", "x=2", "end="]);
  });

  test("is discarded when namespace declarations change", () => {
    const template = templateOf(unit("a", "b"));
    expect(template.isReady(7)).toBe(true);
    learn(template, unit("a", "b"));
    expect(template.isReady(7)).toBe(true);
    expect(texts(template, unit("a", "b"))).not.toBeNull();
    template.isReady(8);
    expect(texts(template, unit("a", "b"))).toBeNull();
  });

  test("pauses where no two records are similar", () => {
    const template = new XmlRecordTemplate<string>();
    let met = 0;
    for (let n = 0; n < 100_000; n++) {
      if (template.isReady(0)) {
        met++;
        expect(texts(template, `<f><a${n}>1</a${n}></f>`)).toBeNull();
      }
      learn(template, `<f><a${n}>1</a${n}></f>`);
    }
    expect(met).toBeGreaterThan(100);
    expect(met).toBeLessThan(2000);
  });
});
