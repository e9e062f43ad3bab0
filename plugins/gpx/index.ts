import { defineFormat } from "../../src/plugin/format.js";
import { likeness } from "./identify.js";
import { readOptions } from "./options.js";

/** GPS Exchange Format 1.0 and 1.1 (topografix.com/GPX). */
export default defineFormat({
  apiVersion: 1,
  id: "gpx",
  label: "GPS Exchange Format (GPX)",
  extensions: ["gpx"],
  identify: (head) => likeness(head),
  reader: { options: readOptions, load: () => import("./reader.js") },
});
