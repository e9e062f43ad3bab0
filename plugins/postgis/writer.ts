export { assembler } from "./write/database-writer.js";
export { encoder } from "./write/encoder.js";
