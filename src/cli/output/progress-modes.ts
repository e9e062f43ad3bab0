/** The values of `--progress`. */
export const progressModes = ["auto", "json", "none"] as const;
export type ProgressMode = (typeof progressModes)[number];
