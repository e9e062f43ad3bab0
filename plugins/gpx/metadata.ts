/** The metadata of GPX 1.1 (metadataType, personType, copyrightType, linkType), and what GPX 1.0 has in its place. */
import type { LayerMetadata, MetadataLink } from "../../src/model/index.js";
import { attributeText, elementText } from "../shared/xml-text.js";

/** An element of the metadata as the document has it. */
export interface MetadataElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: MetadataElement[];
  text: string;
}

const child = (of: MetadataElement | undefined, name: string): MetadataElement | undefined =>
  of?.children.find((each) => each.name === name);
const textOf = (element: MetadataElement | undefined): string | undefined => element?.text.trim() || undefined;

/** The object without what is undefined; undefined where nothing is left. */
function some<T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } | undefined {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  return entries.length > 0
    ? (Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> })
    : undefined;
}

function linkOf(element: MetadataElement | undefined): MetadataLink | undefined {
  const href = element?.attributes.get("href");
  return href
    ? { href, ...some({ text: textOf(child(element, "text")), type: textOf(child(element, "type")) }) }
    : undefined;
}

/** `<email id="a" domain="b.org"/>` in GPX 1.1, a text in GPX 1.0. */
function emailOf(element: MetadataElement | undefined): string | undefined {
  const id = element?.attributes.get("id");
  return id === undefined ? textOf(element) : `${id}@${element?.attributes.get("domain") ?? ""}`;
}

/** What the elements say together; undefined for nothing. */
export function metadataOf(elements: readonly MetadataElement[]): LayerMetadata | undefined {
  const first = (name: string) => elements.find((each) => each.name === name);
  const author = first("author");
  const copyright = first("copyright");
  const url = textOf(first("url"));
  const links = elements
    .filter(({ name }) => name === "link")
    .map(linkOf)
    .concat(url === undefined ? [] : [{ href: url, ...some({ text: textOf(first("urlname")) }) }])
    .filter((link) => link !== undefined);
  return some({
    description: textOf(first("desc")),
    author: some({
      name: textOf(child(author, "name")) ?? textOf(author),
      email: emailOf(child(author, "email") ?? first("email")),
      link: linkOf(child(author, "link")),
    }),
    copyright: some({
      author: copyright?.attributes.get("author"),
      year: textOf(child(copyright, "year")),
      license: textOf(child(copyright, "license")),
    }),
    links: links.length > 0 ? links : undefined,
    time: textOf(first("time")),
    keywords: textOf(first("keywords")),
  });
}

const element = (name: string, text: string | undefined): string =>
  text === undefined ? "" : `<${name}>${elementText(text)}</${name}>`;
const linkText = ({ href, text, type }: MetadataLink): string =>
  `<link href="${attributeText(href)}">${element("text", text)}${element("type", type)}</link>`;

/** XML Schema's dateTime and gYear. */
const dateTime = /^-?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$/;
const year = /^-?\d{4,}(Z|[+-]\d\d:\d\d)?$/;
const address = /^([^@]+)@([^@]*)$/;

/** The element of the metadata; `lose` takes what is not of the types that the schema has. */
export function metadataText(name: string, metadata: LayerMetadata, lose: (what: string) => void): string {
  const { description, author, copyright, links = [], time, keywords } = metadata;
  const fitting = (text: string | undefined, pattern: RegExp, what: string) => {
    if (text === undefined || pattern.test(text)) return text;
    lose(`${what} "${text}"`);
    return undefined;
  };
  const [, id, domain] = address.exec(fitting(author?.email, address, "the address") ?? "") ?? [];
  const email = id === undefined ? "" : `<email id="${attributeText(id)}" domain="${attributeText(domain ?? "")}"/>`;
  const parts = [
    element("name", name),
    element("desc", description),
    author && `<author>${element("name", author.name)}${email}${author.link ? linkText(author.link) : ""}</author>`,
    copyright &&
      `<copyright author="${attributeText(copyright.author ?? "")}">${element("year", fitting(copyright.year, year, "the year"))}${element("license", copyright.license)}</copyright>`,
    ...links.map(linkText),
    element("time", fitting(time, dateTime, "the time")),
    element("keywords", keywords),
  ];
  return `<metadata>${parts.join("")}</metadata>`;
}
