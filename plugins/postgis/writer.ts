export { assembler } from "./database-writer.js";
export { encoder } from "./encoder.js";
