/** Colors of layers and classes, in light and dark. Each has a contrast of at least 3 to land and sea. */

/** Told apart with color vision deficiencies, too, as far as nine colors can be. */
export const categories = {
  light: ["#0b6aa8", "#c2500a", "#12805c", "#b03a86", "#8a6d00", "#2f7fb8", "#6a51a3", "#8c4a2f", "#557a14"],
  dark: ["#6db3f2", "#ff9e57", "#4fd1a5", "#f08cc8", "#e3c04d", "#8fd9ff", "#b39df0", "#d19a7d", "#b5d45e"],
} as const;

/** From few to many. */
export const sequence = {
  light: ["#b5780a", "#d9662f", "#c23a63", "#863083", "#432a78"],
  dark: ["#7a6fd6", "#b765c9", "#ee6f92", "#fb9e63", "#fbe37a"],
} as const;

export const others = { light: ["#6d767d", "#7d868d"], dark: ["#98a2aa", "#7f8a92"] } as const;
export const problems = { light: "#b3261e", dark: "#ff8a7d" } as const;
