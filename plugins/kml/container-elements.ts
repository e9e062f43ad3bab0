/** The elements that describe a document or folder, in the order of KML (OGC 07-147r2, 9.1.2). */
import { escapeElement } from "../shared/xml/escape.js";

export const containerElements: readonly string[] = [
  "name",
  "visibility",
  "open",
  "author",
  "link",
  "address",
  "AddressDetails",
  "phoneNumber",
  "Snippet",
  "snippet",
  "description",
  "LookAt",
  "Camera",
  "TimeStamp",
  "TimeSpan",
  "Region",
  "Metadata",
  "ExtendedData",
];

/** Those of them that are kept as written. */
export const verbatimElements: ReadonlySet<string> = new Set(
  containerElements.filter((name) => name !== "name" && name !== "description"),
);

/** The name of a container as its element, with the name of that. */
export const writeNameElement = (name: string): readonly [string, string] => [
  "name",
  `<name>${escapeElement(name)}</name>`,
];
