import type { OptionTable } from "../../src/plugin/options.js";

export const readOptions = {
  layers: {
    type: "choice",
    choices: ["one", "folders"],
    default: "one",
    help: "One layer with the path of folders in the field folder, or a layer for each folder",
  },
  styles: {
    type: "boolean",
    default: true,
    help: "Read styles as properties (stroke, fill, icon …)",
  },
  fid: { type: "text", help: "Name of a field that also holds the feature ids" },
} as const satisfies OptionTable;

export const writeOptions = {
  nameField: {
    type: "text",
    help: "Field to write as placemark name; default: name, else NAME, title or label, in any case",
  },
  descriptionField: {
    type: "text",
    help: "Field to write as description; default: description or desc, in any case",
  },
  altitudeMode: {
    type: "choice",
    choices: ["absolute", "relativeToGround", "clampToGround", "none"],
    default: "absolute",
    help: "Altitude mode, unless the field altitudeMode has a value",
  },
  styles: { type: "boolean", default: true, help: "Create styles from the properties stroke, fill, icon and the like" },
  folders: { type: "boolean", default: true, help: "Create folders from the paths in the field folder" },
  tracks: {
    type: "boolean",
    default: true,
    help: "Write lines with coordinateProperties.times as gx:Track, a Google extension",
  },
  precision: { type: "integer", default: 7, min: 0, max: 20, help: "Decimals of longitude and latitude" },
  zPrecision: { type: "integer", default: 3, min: 0, max: 20, help: "Decimals of heights" },
} as const satisfies OptionTable;
