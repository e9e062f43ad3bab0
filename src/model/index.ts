export * from "./batch.js";
export * from "./column.js";
export * from "./field.js";
export * from "./geometry.js";
export * from "./layer.js";
export { borrow, giveBack } from "./memory.js";
export * from "./pack.js";
export * from "./report.js";
export * from "./summary.js";
