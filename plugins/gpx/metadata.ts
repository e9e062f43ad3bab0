/** The metadata of GPX 1.1 (metadataType, personType, copyrightType, linkType), and the elements of GPX 1.0 for it. */
import type { LayerMetadata, MetadataLink } from "../../src/model/index.js";
import { escapeAttribute, escapeElement } from "../shared/xml/escape.js";

/** An element of the metadata, as in the document. */
export interface MetadataElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: MetadataElement[];
  text: string;
}

const findChild = (of: MetadataElement | undefined, name: string): MetadataElement | undefined =>
  of?.children.find((each) => each.name === name);
const elementTextOf = (element: MetadataElement | undefined): string | undefined => element?.text.trim() || undefined;

/** Removes undefined members; returns undefined where none is left. */
function definedMembers<T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } | undefined {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  return entries.length > 0
    ? (Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> })
    : undefined;
}

function readLink(element: MetadataElement | undefined): MetadataLink | undefined {
  const href = element?.attributes.get("href");
  return href
    ? {
        href,
        ...definedMembers({
          text: elementTextOf(findChild(element, "text")),
          type: elementTextOf(findChild(element, "type")),
        }),
      }
    : undefined;
}

/** `<email id="a" domain="b.org"/>` in GPX 1.1, a text in GPX 1.0. */
function readEmail(element: MetadataElement | undefined): string | undefined {
  const id = element?.attributes.get("id");
  return id === undefined ? elementTextOf(element) : `${id}@${element?.attributes.get("domain") ?? ""}`;
}

/** Converts the elements to layer metadata; undefined where there is none. */
export function readMetadata(elements: readonly MetadataElement[]): LayerMetadata | undefined {
  const first = (name: string) => elements.find((each) => each.name === name);
  const author = first("author");
  const copyright = first("copyright");
  const url = elementTextOf(first("url"));
  const links = elements
    .filter(({ name }) => name === "link")
    .map(readLink)
    .concat(url === undefined ? [] : [{ href: url, ...definedMembers({ text: elementTextOf(first("urlname")) }) }])
    .filter((link) => link !== undefined);
  return definedMembers({
    description: elementTextOf(first("desc")),
    author: definedMembers({
      name: elementTextOf(findChild(author, "name")) ?? elementTextOf(author),
      email: readEmail(findChild(author, "email") ?? first("email")),
      link: readLink(findChild(author, "link")),
    }),
    copyright: definedMembers({
      author: copyright?.attributes.get("author"),
      year: elementTextOf(findChild(copyright, "year")),
      license: elementTextOf(findChild(copyright, "license")),
    }),
    links: links.length > 0 ? links : undefined,
    time: elementTextOf(first("time")),
    keywords: elementTextOf(first("keywords")),
  });
}

const writeElement = (name: string, text: string | undefined): string =>
  text === undefined ? "" : `<${name}>${escapeElement(text)}</${name}>`;
const writeLink = ({ href, text, type }: MetadataLink): string =>
  `<link href="${escapeAttribute(href)}">${writeElement("text", text)}${writeElement("type", type)}</link>`;

/** The types dateTime and gYear of XML Schema. */
const dateTimePattern = /^-?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$/;
const yearPattern = /^-?\d{4,}(Z|[+-]\d\d:\d\d)?$/;
const emailPattern = /^([^@]+)@([^@]*)$/;

/** Writes the metadata element; `lose` receives values that do not fit the types of the schema. */
export function writeMetadata(name: string, metadata: LayerMetadata, lose: (what: string) => void): string {
  const { description, author, copyright, links = [], time, keywords } = metadata;
  const fitting = (text: string | undefined, pattern: RegExp, what: string) => {
    if (text === undefined || pattern.test(text)) return text;
    lose(`${what} "${text}"`);
    return undefined;
  };
  const [, id, domain] = emailPattern.exec(fitting(author?.email, emailPattern, "the address") ?? "") ?? [];
  const email =
    id === undefined ? "" : `<email id="${escapeAttribute(id)}" domain="${escapeAttribute(domain ?? "")}"/>`;
  const parts = [
    writeElement("name", name),
    writeElement("desc", description),
    author &&
      `<author>${writeElement("name", author.name)}${email}${author.link ? writeLink(author.link) : ""}</author>`,
    copyright &&
      `<copyright author="${escapeAttribute(copyright.author ?? "")}">${writeElement("year", fitting(copyright.year, yearPattern, "the year"))}${writeElement("license", copyright.license)}</copyright>`,
    ...links.map(writeLink),
    writeElement("time", fitting(time, dateTimePattern, "the time")),
    writeElement("keywords", keywords),
  ];
  return `<metadata>${parts.join("")}</metadata>`;
}
