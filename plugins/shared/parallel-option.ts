/** The option of readers of services that request pages ahead (`ReadAhead`). */
export const parallelOption = {
  type: "integer",
  min: 1,
  max: 4,
  default: 2,
  help: "Pages to request at once, while the pages before them are processed; 1 requests one after the other",
} as const;
