import { defineFormat } from "../../src/plugin/format.js";
import { rootName } from "../shared/xml/root-name.js";
import { writerCapabilities } from "./capabilities.js";
import { readOptions, writeOptions } from "./options.js";

/** GPS Exchange Format 1.0 and 1.1 (topografix.com/GPX). */
export default defineFormat({
  apiVersion: 1,
  id: "gpx",
  label: "GPS Exchange Format (GPX)",
  extensions: ["gpx"],
  identify: (head) => (rootName(head) === "gpx" ? "yes" : "no"),
  reader: { options: readOptions, indistinct: ["field-types"], load: () => import("./reader.js") },
  writer: { options: writeOptions, capabilities: writerCapabilities, load: () => import("./writer.js") },
});
