/** The elements in which documents and folders say something of themselves, in the order that KML has (OGC 07-147r2, 9.1.2). */
import { elementText } from "../shared/xml-text.js";

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

/** Those of them that are kept as they are written. */
export const detailElements: ReadonlySet<string> = new Set(
  containerElements.filter((name) => name !== "name" && name !== "description"),
);

/** The name of a container as its element, with the name of that. */
export const nameElement = (name: string): readonly [string, string] => ["name", `<name>${elementText(name)}</name>`];
