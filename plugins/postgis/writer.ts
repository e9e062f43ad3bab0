export { createAssembler } from "./write/database-writer.js";
export { createEncoder } from "./write/encoder.js";
