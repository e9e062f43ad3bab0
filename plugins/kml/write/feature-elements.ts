import { type Field, Presence } from "../../../src/model/index.js";
import { EncodedText, type TagPair, tagPair } from "../../shared/text/literal.js";
import type { TextBuffer } from "../../shared/text/text-buffer.js";
import { escapeAttribute, escapeElement, removeForbidden, writeXmlText } from "../../shared/xml/escape.js";
import type { ElementField } from "../element-fields.js";
import { isKmlTime, parseTimespan } from "../times.js";
import { type FeatureValues, writeValue } from "./feature-values.js";
import { styleFields, writeStyleElement } from "./style-element.js";

export interface FeatureElementSettings {
  /** The fields to write as name and description, instead of the fields with these names. */
  readonly nameField: string | undefined;
  readonly descriptionField: string | undefined;
  readonly styles: boolean;
}

const fieldTags = {
  name: tagPair("name"),
  description: tagPair("description"),
  author: { open: new EncodedText("<atom:author><atom:name>"), close: new EncodedText("</atom:name></atom:author>") },
  address: tagPair("address"),
  phoneNumber: tagPair("phoneNumber"),
  snippet: tagPair("snippet"),
};

/** Writes the values that KML has elements for, and records which fields are complete. */
export class FeatureElementWriter {
  constructor(
    private readonly out: TextBuffer,
    private readonly said: FeatureValues,
    private readonly settings: FeatureElementSettings,
  ) {}

  /** Writes the elements before the data, in the order of the schema (OGC 07-147r2, 9.1.2). */
  write(): void {
    const { settings } = this;
    this.nameLike("name", settings.nameField);
    if (this.said.hasRareFields) this.beforeDescription();
    this.nameLike("description", settings.descriptionField);
    if (this.said.hasRareFields) this.behindDescription();
  }

  private beforeDescription(): void {
    this.flag("visibility");
    this.flag("open");
    this.author();
    this.link();
    this.text("address", fieldTags.address);
    this.text("phoneNumber", fieldTags.phoneNumber);
    this.text("snippet", fieldTags.snippet);
  }

  private behindDescription(): void {
    this.timePrimitive();
    this.styleUrl();
    if (this.settings.styles) this.style();
  }

  /** Writes the name or description: the field with this name, else another field, which is also written as data. */
  private nameLike(element: "name" | "description", field: string | undefined): void {
    if (field === undefined) {
      this.text(element, fieldTags[element]);
      return;
    }
    const column = this.said.columnNamed(field);
    if (column?.presence[this.said.row] !== Presence.value) return;
    const { out } = this;
    const mark = out.length;
    out.literal(fieldTags[element].open);
    const before = out.length;
    writeValue(out, column, this.said.row);
    if (out.length === before) out.length = mark;
    else {
      out.literal(fieldTags[element].close);
      if (field !== element) this.said.adds(element);
    }
  }

  private text(field: ElementField, { open, close }: TagPair): void {
    const column = this.said.columnOf(field);
    if (column?.presence[this.said.row] !== Presence.value || !("offsets" in column)) return;
    const from = column.offsets[this.said.row]!;
    const to = column.offsets[this.said.row + 1]!;
    if (from === to) return;
    const { out } = this;
    const mark = out.length;
    out.literal(open);
    const before = out.length;
    const removed = writeXmlText(out, column.bytes, from, to);
    // An element without text is read as no value, so that it is not written.
    if (out.length === before) {
      out.length = mark;
      return;
    }
    out.literal(close);
    if (removed > 0) this.said.removes(field);
    this.said.carried.add(field);
  }

  private flag(field: "visibility" | "open"): void {
    const value = this.said.valueOf(field);
    if (typeof value !== "boolean") return;
    this.out.ascii(`<${field}>${value ? 1 : 0}</${field}>`);
    this.said.carried.add(field);
  }

  /** Readers trim names: one with white space around it is also written as data. */
  private author(): void {
    const author = this.said.valueOf("author");
    if (typeof author !== "string" || author.trim() !== author) return;
    this.text("author", fieldTags.author);
  }

  private link(): void {
    const link = this.said.valueOf("link");
    if (typeof link !== "string" || link.trim() === "" || removeForbidden(link) !== link) return;
    this.out.utf8(`<atom:link href="${escapeAttribute(link)}"/>`);
    this.said.carried.add("link");
  }

  private timePrimitive(): void {
    const { out } = this;
    const time = this.said.valueOf("timestamp");
    if (typeof time === "string" && isKmlTime(time)) {
      out.ascii(`<TimeStamp><when>${time}</when></TimeStamp>`);
      this.said.carried.add("timestamp");
      return;
    }
    const json = this.said.valueOf("timespan");
    const span = typeof json === "string" ? parseTimespan(json) : null;
    if (!span) return;
    out.ascii("<TimeSpan>");
    if (span.begin !== undefined) out.ascii(`<begin>${span.begin}</begin>`);
    if (span.end !== undefined) out.ascii(`<end>${span.end}</end>`);
    out.ascii("</TimeSpan>");
    this.said.carried.add("timespan");
  }

  /** Writes the URL of a style in another document. Styles of the source document are written as properties. */
  private styleUrl(): void {
    const url = this.said.valueOf("styleUrl");
    if (typeof url !== "string" || !/^[^\s#<>"{}|\\^`\x7f-\uffff]+#[\w.-]+$/.test(url)) return;
    this.out.ascii(`<styleUrl>${escapeElement(url)}</styleUrl>`);
    this.said.carried.add("styleUrl");
  }

  private style(): void {
    if (!styleFields.some((field) => this.said.columnOf(field))) return;
    const style = writeStyleElement((field) => this.said.valueOf(field as ElementField));
    if (!style) return;
    this.out.utf8(style.xml);
    for (const field of style.carried) this.said.carried.add(field);
    for (const field of style.added) this.said.adds(field);
  }
}

/** Returns the field to write as an element's text where no field has its name; undefined for none. */
export function chooseDisplayField(
  fields: readonly Field[],
  chosen: string | undefined,
  element: "name" | "description",
  others: readonly string[],
): string | undefined {
  if (chosen !== undefined) return chosen === element && isTextField(fields, element) ? undefined : chosen;
  if (fields.some(({ name }) => name === element)) return isTextField(fields, element) ? undefined : element;
  const fits = (wanted: string) =>
    fields.find(({ name }) => name.length === wanted.length && name.toLowerCase() === wanted)?.name;
  return others.map(fits).find((name) => name !== undefined);
}

const isTextField = (fields: readonly Field[], name: string): boolean =>
  fields.some((field) => field.name === name && field.type === "text");
