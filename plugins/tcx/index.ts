import { defineFormat } from "../../src/plugin/format.js";
import { rootName } from "../shared/xml/root-name.js";
import { readOptions } from "./options.js";

/** Training Center XML, version 2 (Garmin TrainingCenterDatabase v2, with ActivityExtension v2). */
export default defineFormat({
  apiVersion: 1,
  id: "tcx",
  label: "Training Center XML (TCX)",
  extensions: ["tcx"],
  identify: (head) => (rootName(head) === "TrainingCenterDatabase" ? "yes" : "no"),
  reader: { options: readOptions, indistinct: ["field-types"], load: () => import("./reader.js") },
});
