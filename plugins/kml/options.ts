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
    help: "Give the features the properties of their styles (stroke, fill, icon …)",
  },
  fid: { type: "text", help: "Name of a field that shows the feature ids as well" },
} as const satisfies OptionTable;

export const writeOptions = {
  nameField: {
    type: "text",
    help: "The field that becomes the name of a placemark; else name, or the first of NAME, title and label in any case",
  },
  descriptionField: {
    type: "text",
    help: "The field that becomes the description; else description, or desc in any case",
  },
  altitudeMode: {
    type: "choice",
    choices: ["absolute", "relativeToGround", "clampToGround", "none"],
    default: "absolute",
    help: "What heights are meant as, where the field altitudeMode says nothing",
  },
  styles: { type: "boolean", default: true, help: "Make styles of the properties stroke, fill, icon and the like" },
  folders: { type: "boolean", default: true, help: "Make folders of the paths in the field folder" },
  tracks: {
    type: "boolean",
    default: true,
    help: "Write lines with coordinateProperties.times as gx:Track, an extension of Google's",
  },
  precision: { type: "integer", default: 7, min: 0, max: 20, help: "Decimals of longitude and latitude" },
  zPrecision: { type: "integer", default: 3, min: 0, max: 20, help: "Decimals of heights" },
} as const satisfies OptionTable;
