/**
 * Finds the bytes that end cells and records in a window of a table of text; passes over records that tell nothing new of
 * their columns; and reads records into columns.
 */
import { marks, window } from "./cell-window.js";

export { countLines, findMarks } from "./cell-marks.js";
export { candidates } from "./cell-window.js";
export { kindsAt, presenceAt, readRecords, textStartsAt, textsAt, valuesAt } from "./record-columns.js";
export { passRecords, prefixAt, setPrefix, statesAt } from "./record-survey.js";
export { geometryKindsAt, partOffsetsAt, positionOffsetsAt, ringOffsetsAt, xyAt } from "./wkt-column.js";

export function windowAt(): usize {
  return window;
}

export function marksAt(): usize {
  return marks;
}
